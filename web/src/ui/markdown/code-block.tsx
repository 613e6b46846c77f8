import { memo, type ReactNode, useEffect, useState } from "react";
import { CopyButton } from "@/ui/copy-button";
import type { HighlightNode } from "@/ui/markdown/highlight";
import { ScrollBlock } from "@/ui/scroll-block";

type Highlighted = { code: string; nodes: HighlightNode[] } | null;

/** Code with its language and a copy button; it is coloured once the highlighter has loaded. */
export const CodeBlock = memo(function CodeBlock({ code, language }: { code: string; language: string }) {
  const name = language.split(/[\s{:]/)[0] ?? "";
  const [colored, setColored] = useState<Highlighted>(null);
  useEffect(() => {
    let isCurrent = true;
    if (name === "" || code.length > 40_000) return;
    void import("@/ui/markdown/highlight").then(({ highlight }) => {
      const nodes = highlight(code, name);
      if (isCurrent && nodes !== null) setColored({ code, nodes });
    });
    return () => {
      isCurrent = false;
    };
  }, [code, name]);
  return (
    <div className="code">
      <div className="flex h-9 items-center justify-between border-b border-line pr-1 pl-4">
        <span className="font-mono text-[12px] text-faint">{name || "text"}</span>
        <CopyButton text={code} />
      </div>
      <ScrollBlock className="px-4 py-3.5 text-[13px]">
        <code>{colored?.code === code ? colored.nodes.map(drawNode) : code}</code>
      </ScrollBlock>
    </div>
  );
});

function drawNode(node: HighlightNode, index: number): ReactNode {
  if (typeof node === "string") return node;
  return (
    <span key={index} className={node.className}>
      {node.children.map(drawNode)}
    </span>
  );
}
