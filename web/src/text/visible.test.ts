import { expect, test } from "vitest";
import { showControls, showExactly, showInJson, showLinesToApprove, showOnLine, showToApprove } from "@/text/visible";

test("ordinary text of every language stays as it is", () => {
  const ordinary = "Ähren 木材 🪵 👩‍🌾 नमस्ते می‌خواهم שלום\tx\ny";
  expect(showControls(ordinary)).toBe(ordinary);
  expect(showExactly(ordinary)).toBe(ordinary);
});

test("control and direction characters are escapes", () => {
  expect(showControls("a\x1b[2J\x9b\x7f\0 \u202eb\u2066\u2028\u{e0041}")).toBe(
    "a\\x1b[2J\\x9b\\x7f\\x00 \\u202eb\\u2066\\u2028\\U000e0041",
  );
  expect(showControls("one\r\ntwo\rthree")).toBe("one\ntwo\\rthree");
});

test("a value shows what is not drawn, a name stays on one line", () => {
  expect(showControls("r\u200bm")).toBe("r\u200bm");
  expect(showExactly("r\u200bm\xad\u200dx\r\n")).toBe("r\\u200bm\\xad\\u200dx\\r\n");
  expect(showOnLine("ls\n\t$ rm")).toBe("ls\\n\\t$ rm");
});

test("blank signs, selectors and enclosing marks are shown, those of emoji are ordinary", () => {
  expect(showOnLine("a\u2800\u{1d159}b\u20e3\ufe00\ufe0f")).toBe("a\\u2800\\U0001d159b\\u20e3\\ufe00\\ufe0f");
  expect(showExactly("❤\ufe0f 🪵\ufe0f")).toBe("❤\ufe0f 🪵\ufe0f");
});

test("runs of blanks are counted for an approval", () => {
  const short = `a  b${" ".repeat(7)}c`;
  expect(showToApprove(short)).toBe(short);
  expect(showToApprove(`a${" \xa0".repeat(40)}b`)).toBe("a␣×80b");
  expect(showToApprove(`a${"\u2800".repeat(90)}${"\n".repeat(10)}\t`)).toBe("a\\u2800×90\\n×10\\t");
  expect(showLinesToApprove("    a    \n\t\tb")).toBe("    a␣×4\n\t\tb");
  expect(showLinesToApprove(`${" ".repeat(30)}${"\u202e".repeat(9)}`)).toBe("␣×30\\u202e×9");
});

test("JSON stays the same data", () => {
  const data = { a: "\u202e\u{e0041}\u200b\x7f👩‍🌾" };
  const shown = showInJson(JSON.stringify(data));
  expect(JSON.parse(shown)).toEqual(data);
  expect(shown).toBe('{"a":"\\u202e\\udb40\\udc41\\u200b\\u007f👩‍🌾"}');
});
