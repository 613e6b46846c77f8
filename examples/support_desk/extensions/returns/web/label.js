/** Carries out `save_return_label`: draws the label as a picture and saves it; the card shows what was saved. */

const SHOP = ["The Wood Shop · Returns", "Sawmill Lane 5", "12345 Woodtown"];

/** @param {import("./dovetail").Dovetail} dovetail */
export default function register({ React, card, browserTool }) {
  const h = React.createElement;

  browserTool("save_return_label", ({ order, customer }) => {
    const file = `return-${order.replace(/[^\w-]/g, "")}.svg`;
    const address = URL.createObjectURL(new Blob([draw(order, customer)], { type: "image/svg+xml" }));
    const link = Object.assign(document.createElement("a"), { href: address, download: file });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
    return { file };
  });

  card("save_return_label", function Label({ input, output }) {
    const picture = `data:image/svg+xml,${encodeURIComponent(draw(input.order, input.customer))}`;
    return h("img", { src: picture, alt: output.file, style: { width: 320, borderRadius: 12, padding: "4px 0" } });
  });
}

/** The label as SVG: from the customer, to the shop, with the order as bars. */
function draw(order, customer) {
  const lines = [`From: ${customer}`, `Order ${order}`, "", ...SHOP];
  const texts = lines.map((line, index) => `<text x="20" y="${36 + index * 22}">${escape(line)}</text>`);
  const bars = [...order].flatMap((letter, index) =>
    [1, 2, 4, 8].map((bit, place) => {
      const width = letter.charCodeAt(0) & bit ? 5 : 2;
      return `<rect x="${20 + index * 42 + place * 10}" y="180" width="${width}" height="44"/>`;
    }),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 250" font-family="sans-serif" font-size="16">
<rect width="400" height="250" fill="white"/><rect x="5" y="5" width="390" height="240" rx="10" fill="none" stroke="black"/>
${texts.join("")}${bars.join("")}</svg>`;
}

function escape(text) {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
