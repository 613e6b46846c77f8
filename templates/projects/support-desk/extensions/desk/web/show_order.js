/** Carries out `show_order`: a card in the corner of the page, until it is clicked. */

/** @param {import("./dovetail").Dovetail} dovetail */
export default function register({ browserTool }) {
  browserTool("show_order", ({ number, lines = [] }) => {
    document.getElementById("desk-order")?.remove();
    const card = document.createElement("button");
    card.id = "desk-order";
    card.type = "button";
    card.append(...[`Order ${number}`, ...lines].map(makeLine));
    card.onclick = () => card.remove();
    Object.assign(card.style, {
      position: "fixed",
      right: "16px",
      bottom: "120px",
      padding: "12px 18px",
      textAlign: "left",
      background: "var(--raised)",
      color: "var(--ink)",
      border: "1px solid var(--line)",
      borderRadius: "10px",
      zIndex: "10",
    });
    document.body.append(card);
    return { shown: number };
  });
}

/** A line of the card; the text is never read as HTML. */
function makeLine(text) {
  const line = document.createElement("div");
  line.textContent = text;
  return line;
}
