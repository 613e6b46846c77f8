import { expect, test } from "vitest";
import { fieldsOf, inputOf } from "@/features/policy/call-form";

const TOOL = {
  name: "run",
  title: "Run",
  description: "",
  kind: "execute",
  origin: "code",
  parameters: {
    properties: { command: { type: "string", description: "What to run." }, count: { type: "integer" }, any: true },
  },
};

test("each argument of a tool is a field", () => {
  expect(fieldsOf(TOOL)).toEqual([
    { name: "command", hint: "What to run.", isText: true },
    { name: "count", hint: null, isText: false },
    { name: "any", hint: null, isText: false },
  ]);
  expect(fieldsOf(undefined)).toEqual([]);
});

test("texts stay texts, other values are read as JSON, and empty fields are left out", () => {
  const values = { command: "42", count: "3", any: "[1" };
  expect(inputOf(fieldsOf(TOOL), values)).toEqual({ command: "42", count: 3, any: "[1" });
  expect(inputOf(fieldsOf(TOOL), {})).toEqual({});
});
