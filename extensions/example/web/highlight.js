/** Carries out `highlight`: marks a passage wherever the conversation contains it. */

const NAME = "example-highlight";

/** @param {import("./dovetail").Dovetail} dovetail */
export default function register({ browserTool }) {
  browserTool("highlight", ({ text }) => {
    const ranges = findRanges(document.querySelector("main") ?? document.body, text);
    CSS.highlights.set(NAME, new Highlight(...ranges));
    ranges[0]?.startContainer.parentElement?.scrollIntoView({ block: "center" });
    return { marked: ranges.length };
  });
}

/** The ranges of the text nodes below an element that contain the text. */
function findRanges(element, text) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const ranges = [];
  while (text && walker.nextNode()) {
    const node = walker.currentNode;
    for (let at = node.data.indexOf(text); at >= 0; at = node.data.indexOf(text, at + text.length)) {
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + text.length);
      ranges.push(range);
    }
  }
  return ranges;
}
