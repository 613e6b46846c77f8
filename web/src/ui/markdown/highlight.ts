/** Colours for code; loaded when the first code block with a language appears. */

import { common, createLowlight } from "lowlight";

export type HighlightNode = string | { className: string; children: HighlightNode[] };

type SyntaxNode = ReturnType<ReturnType<typeof createLowlight>["highlight"]>["children"][number];

const lowlight = createLowlight(common);

export function highlight(code: string, language: string): HighlightNode[] | null {
  if (!lowlight.registered(language)) return null;
  return lowlight.highlight(language, code).children.map(simplify);
}

function simplify(node: SyntaxNode): HighlightNode {
  if (node.type === "text") return node.value;
  if (node.type !== "element") return "";
  const names = node.properties["className"];
  return {
    className: Array.isArray(names) ? names.join(" ") : "",
    children: node.children.map(simplify),
  };
}
