import { expect, test } from "vitest";
import { chartOfTable } from "@/features/tool-cards/chart-view";
import { outputView } from "@/features/tool-cards/output-view";

test.each([
  ["", "none"],
  ["hello", "text"],
  ["# just a comment in a script\nx = 1", "text"],
  ["## Result\n\nIt is **done**.", "markdown"],
  [{ type: "markdown", text: "# Title" }, "markdown"],
  ["--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y", "diff"],
  [{ diff: "+x" }, "diff"],
  [{ diff: "", path: "a" }, "json"],
  ["data:image/png;base64,AAAA", "image"],
  [{ type: "image", data: "AAAA", mimeType: "image/jpeg" }, "image"],
  [{ type: "image", url: "https://elsewhere.example/a.png" }, "json"],
  ['{"a": 1}', "json"],
  ["[not json", "text"],
  ["https://a.example/b", "links"],
  [{ url: "https://a.example", title: "A" }, "links"],
  [[{ url: "https://a.example", title: "A", rank: 1 }], "links"],
  [{ url: "javascript:alert(1)", title: "A" }, "json"],
  [[{ a: 1 }, { a: 2 }], "table"],
  [{ rows: [{ a: 1 }, { a: 2 }] }, "table"],
  [[{ a: 1 }, { b: 2 }], "json"],
  [6223, "json"],
  [{ type: "file", name: "a.csv", url: "/api/v1/artifacts/1", size: 3 }, "file"],
  [{ type: "file", name: "a.csv", url: "//evil.example" }, "json"],
  [{ artifact_id: "0123", characters: 90_000, beginning: "x" }, "file"],
  [{ type: "chart", kind: "line", labels: ["Mon"], series: [{ name: "a", values: [1] }] }, "chart"],
  [{ type: "chart", data: [{ day: "Mon", cost: 1 }] }, "chart"],
  [{ type: "chart" }, "json"],
])("the output %j is shown as %s", (output, shape) => {
  expect(outputView(output).shape).toBe(shape);
});

test("a chart takes its names and numbers from the columns, missing ones are gaps", () => {
  const data = [
    { day: "Mon", cost: 1, runs: 2 },
    { day: "Tue", cost: null, runs: 3 },
  ];
  expect(outputView({ type: "chart", kind: "line", title: "Costs", data, y: ["cost"] })).toEqual({
    shape: "chart",
    chart: {
      kind: "line",
      title: "Costs",
      labels: ["Mon", "Tue"],
      series: [{ name: "cost", values: [1, null] }],
      isStacked: false,
    },
  });
});

test("a table with names and numbers can be drawn as a chart, others cannot", () => {
  const rows = [
    { joint: "dovetail", minutes: 45 },
    { joint: "box", minutes: 25 },
  ];
  expect(chartOfTable(["joint", "minutes"], rows)?.series).toEqual([{ name: "minutes", values: [45, 25] }]);
  expect(chartOfTable(["a"], [{ a: 1 }, { a: 2 }])).toBeNull();
  expect(chartOfTable(["a"], [{ a: "x" }, { a: "y" }])).toBeNull();
});
