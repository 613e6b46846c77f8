import { expect, test } from "vitest";
import { decodeEntities, safeAddress, safeImage } from "@/ui/markdown/entities";

test("named and numbered references become characters", () => {
  expect(decodeEntities("a &lt; b &amp;&#38; &#x4e2d; caf&eacute; &frac12;")).toBe("a < b && 中 café ½");
  expect(decodeEntities("&unknown; &notit; &constructor; & &;")).toBe("&unknown; &notit; &constructor; & &;");
});

test.each([
  ["https://example.org/a?b=c&amp;d", "https://example.org/a?b=c&d"],
  ["mailto:a@example.org", "mailto:a@example.org"],
  ["/api/v1/artifacts/1", "/api/v1/artifacts/1"],
  ["#part", "#part"],
  ["javascript:alert(1)", null],
  ["JaVaScRiPt:alert(1)", null],
  ["&#106;avascript:alert(1)", null],
  ["data:text/html,<script>", null],
  ["//evil.example", null],
  ["/\\evil.example", null],
  ["/\t/evil.example", null],
  ["/&#9;/evil.example", null],
  ["/&Tab;/evil.example", null],
  ["javascript&colon;alert(1)", null],
  ["/\n\\evil.example", null],
  ["\\\\evil.example", null],
  ["java\tscript:alert(1)", null],
  ["/a\\b", "/a\\b"],
])("the address %j leads to %j", (address, safe) => {
  expect(safeAddress(address)).toBe(safe);
});

test.each([
  ["/api/v1/artifacts/1", "/api/v1/artifacts/1"],
  ["data:image/png;base64,AAAA", "data:image/png;base64,AAAA"],
  ["data:image/svg+xml;base64,AAAA", null],
  ["data:text/html,<script>", null],
  ["https://elsewhere.example/a.png", null],
  ["//evil.example/a.png", null],
])("the image %j is loaded from %j", (address, safe) => {
  expect(safeImage(address)).toBe(safe);
});
