/**
 * The page in which diagrams are drawn, a hidden frame of the chat: mermaid needs inline styles, which the policy of
 * the chat forbids. Its own policy allows them, and neither requests nor scripts from elsewhere; what leaves the frame is
 * an SVG picture, in which nothing runs.
 */

import mermaid from "mermaid";

const FONT = 'ui-sans-serif, system-ui, "PingFang SC", "Microsoft YaHei", sans-serif';
const LIGHT = {
  primaryColor: "#eef5f0",
  primaryBorderColor: "#9db8a8",
  primaryTextColor: "#27322c",
  lineColor: "#7b8a81",
};
const DARK = {
  primaryColor: "#26362e",
  primaryBorderColor: "#5e8f77",
  primaryTextColor: "#e6ebe8",
  lineColor: "#93a198",
};

interface DiagramRequest {
  id: number;
  source: string;
  isDark: boolean;
}

let last = Promise.resolve();

addEventListener("message", ({ data, origin, source }: MessageEvent<DiagramRequest>) => {
  if (origin !== location.origin || source !== parent) return;
  // Mermaid draws one diagram at a time.
  last = last.then(() => answer(data));
});

async function answer({ id, source, isDark }: DiagramRequest): Promise<void> {
  try {
    mermaid.initialize({
      startOnLoad: false,
      securityLevel: "strict",
      suppressErrorRendering: true,
      theme: "base",
      look: "classic",
      themeVariables: { ...(isDark ? DARK : LIGHT), darkMode: isDark, fontFamily: FONT, fontSize: "14px" },
      htmlLabels: false,
      flowchart: { htmlLabels: false, useMaxWidth: false },
    });
    const { svg } = await mermaid.render(`diagram-${id}`, source);
    parent.postMessage({ id, svg: toPicture(svg) }, location.origin);
  } catch (error) {
    parent.postMessage({ id, error: error instanceof Error ? error.message : String(error) }, location.origin);
  }
}

/** The diagram as a file of its own: well-formed, with its size in pixels. */
function toPicture(markup: string): string {
  const template = document.createElement("template");
  template.innerHTML = markup;
  const picture = template.content.querySelector("svg");
  if (picture === null) throw new Error("The diagram is empty.");
  const [, , width = 0, height = 0] = (picture.getAttribute("viewBox") ?? "").split(/[\s,]+/).map(Number);
  picture.setAttribute("width", String(Math.ceil(width)));
  picture.setAttribute("height", String(Math.ceil(height)));
  picture.style.maxWidth = "";
  return new XMLSerializer().serializeToString(picture);
}

parent.postMessage({ isReady: true }, location.origin);
