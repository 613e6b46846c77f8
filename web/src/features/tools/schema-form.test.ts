import { expect, test } from "vitest";
import { type FormValues, readForm } from "@/features/tools/read-form";
import { fieldsOf } from "@/features/tools/schema-form";

const BOARD = {
  type: "object",
  properties: { wood: { enum: ["oak", "pine"] }, width: { type: "integer" }, note: { type: "string" } },
  required: ["wood", "width"],
};

const SCHEMA = {
  type: "object",
  properties: {
    name: { type: "string", description: "Who" },
    count: { anyOf: [{ type: "integer" }, { type: "null" }], default: 3 },
    ratio: { type: "number" },
    unit: { type: "string", enum: ["mm", "inch"] },
    level: { enum: [1, 2] },
    glued: { type: "boolean" },
    extra: { type: "object" },
    board: { anyOf: [{ $ref: "#/$defs/Board" }, { type: "null" }] },
    boards: { type: "array", items: { $ref: "#/$defs/Board" }, description: "All of them" },
    tags: { type: "array", items: { type: "string" } },
  },
  required: ["name", "boards"],
  $defs: { Board: BOARD },
};

const fields = fieldsOf(SCHEMA);
const read = (values: FormValues) => readForm(fields, { name: "Ada", ...values });

test("each property becomes a field of its shape, references and variants resolved", () => {
  expect(fields.map((field) => [field.name, field.shape, field.isRequired])).toEqual([
    ["name", "text", true],
    ["count", "integer", false],
    ["ratio", "number", false],
    ["unit", "choice", false],
    ["level", "choice", false],
    ["glued", "boolean", false],
    ["extra", "json", false],
    ["board", "object", false],
    ["boards", "list", true],
    ["tags", "list", false],
  ]);
  expect(fields[8]?.item?.fields.map((field) => field.name)).toEqual(["wood", "width", "note"]);
  expect(fields[8]?.description).toBe("All of them");
});

test("typed values become arguments of the right types, and empty ones are left out", () => {
  expect(read({ ratio: "0.5", unit: "mm", level: "2", glued: "false", extra: '{"a": 1}' })).toEqual({
    args: { name: "Ada", count: 3, ratio: 0.5, unit: "mm", level: 2, glued: false, extra: { a: 1 }, boards: [] },
    faults: [],
  });
});

test("nested objects and lists are read completely", () => {
  const { args, faults } = read({
    board: { wood: "oak", width: "20" },
    boards: [
      { wood: "pine", width: "90", note: "knotty" },
      { wood: "oak", width: "12", note: "" },
    ],
    tags: ["fine", "dry"],
  });
  expect(faults).toEqual([]);
  expect(args).toMatchObject({
    board: { wood: "oak", width: 20 },
    boards: [
      { wood: "pine", width: 90, note: "knotty" },
      { wood: "oak", width: 12 },
    ],
    tags: ["fine", "dry"],
  });
});

test("invalid values are reported with their path", () => {
  const broken = { count: "1.5", ratio: "x", extra: "{", boards: [{ wood: "", width: "wide" }] };
  expect(read(broken).faults).toEqual(["count", "ratio", "extra", "boards.0.wood", "boards.0.width"]);
});

test("a recursive schema is cut off", () => {
  const node = { type: "object", properties: { next: { $ref: "#/$defs/Node" } } };
  expect(() => fieldsOf({ ...node, $defs: { Node: node } })).not.toThrow();
});
