import { expect, test } from "vitest";
import { BlockReader, closeMarks } from "@/ui/markdown/lexer";

const DOCUMENT = `# Title

A paragraph with **bold** and \`code\`.

- one
- two

  still two
- three

| a | b |
|---|---|
| 1 | 2 |

\`\`\`python
def f():

    return 1
\`\`\`

Sum: $$x^2$$ and $y$, for $5 and $10.

Setext
======

A claim.[^1] Another.[^long]

<details>
<summary>More **on** it</summary>

- hidden

<details><summary>Inner</summary>deep</details>
</details>

After it.

[^1]: The source.
[^long]: Two paragraphs.

    The second one.

> quote
`;

function shape(text: string) {
  return new BlockReader().read(text).map((block) => [block.token.type, block.raw]);
}

test("a text that grows token by token has the same blocks as the whole text", () => {
  for (const step of [1, 3, 7]) {
    const reader = new BlockReader();
    for (let end = step; end < DOCUMENT.length; end += step) reader.read(DOCUMENT.slice(0, end));
    const grown = reader.read(DOCUMENT).map((block) => [block.token.type, block.raw]);
    expect(grown).toEqual(shape(DOCUMENT));
  }
});

test("complete blocks keep their identity while the text grows", () => {
  const reader = new BlockReader();
  const first = reader.read("one\n\ntwo\n\nthree\n\nfour");
  const second = reader.read("one\n\ntwo\n\nthree\n\nfour and more");
  expect(second[0]).toBe(first[0]);
  expect(second.at(-1)).not.toBe(first.at(-1));
});

test("a replaced text is parsed again", () => {
  const reader = new BlockReader();
  reader.read("one\n\ntwo\n\nthree");
  expect(reader.read("other").map((block) => block.raw)).toEqual(["other"]);
});

test("prices are not mathematics", () => {
  const [block] = new BlockReader().read("It costs $5 and then $10.");
  expect(JSON.stringify(block?.token)).not.toContain('"math"');
});

test.each([
  ["a **bold", "a **bold**"],
  ["a **", "a "],
  ["some `code", "some `code`"],
  ["see [the docs](https://exa", "see the docs"],
  ["see [the do", "see the do"],
  ["![plan](https://exa", ""],
  ["done **bold** and *it", "done **bold** and *it*"],
  ["* item one\n* item", "* item one\n* item"],
  ["all closed", "all closed"],
])("the unfinished text %j is shown as %j", (text, shown) => {
  expect(closeMarks(text)).toBe(shown);
});

function depth(token: unknown): number {
  const { tokens = [], items = [] } = token as { tokens?: unknown[]; items?: unknown[] };
  return 1 + Math.max(0, ...[...tokens, ...items].map(depth));
}

test.each([
  ["quotes", ">".repeat(3000)],
  ["numbers", "1. ".repeat(2000)],
  ["dashes", "- ".repeat(1000)],
  ["emphasis", "*a **b ".repeat(600)],
  ["details", "<details>".repeat(2000)],
])("nested %s are rendered to a depth that a browser can handle, without losing text", (_, text) => {
  const blocks = new BlockReader().read(text);
  expect(Math.max(...blocks.map((block) => depth(block.token)))).toBeLessThan(80);
  expect(blocks.map((block) => block.raw).join("")).toBe(text);
});

test("footnotes have references and definitions, and a definition ends where the next one begins", () => {
  const blocks = new BlockReader().read("A claim.[^1]\n\n[^1]: One.\n[^b]: Two.\n\n    More of two.\n\nEnd.");
  const tokens = blocks.map(({ token }) => token).filter(({ type }) => type !== "space");
  expect(tokens.map(({ type }) => type)).toEqual(["paragraph", "footnote", "footnote", "paragraph"]);
  expect(tokens.slice(1, 3).map((token) => (token as unknown as { name: string }).name)).toEqual(["1", "b"]);
  expect(JSON.stringify(tokens[0])).toContain('"footnoteRef"');
  expect(JSON.stringify(tokens[2])).toContain("More of two.");
});

test("a part that can be unfolded keeps its inner Markdown, also nested and while it is not closed", () => {
  const [outer] = new BlockReader().read(
    "<details open>\n<summary>A <b>b</b></summary>\n\n- x\n\n<details>y</details>",
  );
  expect(outer?.token).toMatchObject({ type: "details", summary: "A b", isOpen: true });
  const { tokens: inside = [] } = (outer?.token ?? {}) as { tokens?: { type: string }[] };
  expect(inside.map(({ type }) => type).filter((type) => type !== "space")).toEqual(["list", "details"]);
});
