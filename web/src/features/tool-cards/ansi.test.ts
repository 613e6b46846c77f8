import { expect, test } from "vitest";
import { readAnsi, stripAnsi } from "@/features/tool-cards/ansi";

test("colours become spans, and end where the program resets them", () => {
  expect(readAnsi("\u001b[1;31mFAIL\u001b[0m one \u001b[32mok\u001b[39m\u001b[K end")).toEqual([
    { text: "FAIL", className: "text-danger font-semibold" },
    { text: " one ", className: "" },
    { text: "ok", className: "text-accent" },
    { text: " end", className: "" },
  ]);
});

test("extended colours, titles and cursor movements leave no trace", () => {
  const text = "\u001b]0;title\u0007\u001b[38;5;208mx\u001b[38;2;1;2;3my\u001b[2Jz";
  expect(readAnsi(text)).toEqual([{ text: "xyz", className: "" }]);
  expect(stripAnsi(text)).toBe("xyz");
});

test("of a line that was written again the last version remains", () => {
  expect(stripAnsi("10 %\r50 %\r100 %\ndone\r\nend")).toBe("100 %\ndone\r\nend");
});
