/** The card of `find_facts`: the passages that were found, each with a link to its document. */

/** @param {import("./dovetail").Dovetail} dovetail */
export default function register({ React, card }) {
  const h = React.createElement;

  card("find_facts", function Passages({ output }) {
    return h(
      "ol",
      { className: "library" },
      output.map((passage, index) => {
        const [, number, address] = /^\[\[(\d+)\]\]\((.+)\)$/.exec(passage.citation);
        return h(
          "li",
          { key: index },
          h("a", { href: address, target: "_blank", rel: "noreferrer" }, `[${number}] ${passage.title}`),
          h("p", { className: "library-text" }, passage.text),
        );
      }),
    );
  });
}
