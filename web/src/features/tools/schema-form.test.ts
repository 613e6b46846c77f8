import { expect, test } from "vitest";
import { fieldsOf, readForm } from "@/features/tools/schema-form";

const SCHEMA = {
  type: "object",
  required: ["city", "days"],
  properties: {
    city: { type: "string", description: "Where" },
    days: { type: "integer", default: 3 },
    unit: { enum: ["c", "f"] },
    ratio: { anyOf: [{ type: "number" }, { type: "null" }] },
    loud: { type: ["boolean", "null"] },
    filter: { type: "object" },
  },
};

test("each property becomes a field of its shape", () => {
  expect(fieldsOf(SCHEMA).map((field) => [field.name, field.shape, field.isRequired, field.initial])).toEqual([
    ["city", "text", true, ""],
    ["days", "integer", true, "3"],
    ["unit", "choice", false, ""],
    ["ratio", "number", false, ""],
    ["loud", "boolean", false, ""],
    ["filter", "json", false, ""],
  ]);
});

test("texts become typed arguments and empty optional fields are left out", () => {
  const values = { city: "Kyoto", ratio: "0.5", loud: "true", filter: '{"a":1}' };
  expect(readForm(fieldsOf(SCHEMA), values)).toEqual({
    args: { city: "Kyoto", days: 3, ratio: 0.5, loud: true, filter: { a: 1 } },
    faults: [],
  });
});

test("texts that do not fit are named", () => {
  const values = { city: "Kyoto", days: "2.5", ratio: "much", filter: "{" };
  expect(readForm(fieldsOf(SCHEMA), values).faults).toEqual(["days", "ratio", "filter"]);
});

test("a schema without properties has no fields", () => {
  expect(fieldsOf({})).toEqual([]);
});
