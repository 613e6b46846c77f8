import { expect, test } from "vitest";
import { parted } from "@/ui/marked-text";

test.each([
  ["Oak, oak.", "oak", "[Oak], [oak]."],
  ["Oak", "", "Oak"],
  ["Oak", "elm", "Oak"],
  ["a.b", ".", "a[.]b"],
  ["", "x", ""],
])("%j is marked where it contains %j", (text, query, expected) => {
  const marked = parted(text, query).map((piece) => (piece.isMatch ? `[${piece.text}]` : piece.text));
  expect(marked.join("")).toBe(expected);
});
