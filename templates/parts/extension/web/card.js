/** Draws the calls of `my_tool` in the page. A saved change is loaded with the folder. */

/** @param {import("./dovetail").Dovetail} dovetail */
export default function register({ React, card }) {
  const h = React.createElement;

  card("my_tool", function Greeting({ input, output }) {
    return h(
      "div",
      { style: { padding: "4px 0" } },
      h("p", { style: { fontSize: 22 } }, output),
      h("p", { style: { color: "var(--soft)" } }, `for ${input.who}`),
    );
  });
}
