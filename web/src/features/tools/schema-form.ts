/** A form from a JSON Schema: which fields there are, and what their texts mean as arguments. */

import { isRecord, type Json, list, record, text } from "@/protocol/shapes";

export type FieldShape = "text" | "number" | "integer" | "boolean" | "choice" | "json";

export interface FormField {
  name: string;
  shape: FieldShape;
  description: string;
  isRequired: boolean;
  choices: string[];
  /** What stands in the field at first. */
  initial: string;
}

export type FormValues = Record<string, string>;

const SHAPES: Record<string, FieldShape> = {
  string: "text",
  number: "number",
  integer: "integer",
  boolean: "boolean",
};

export function fieldsOf(schema: Json): FormField[] {
  const required = list(schema["required"]);
  return Object.entries(record(schema["properties"])).map(([name, value]) => {
    const property = record(value);
    const choices = list(property["enum"]).map(String);
    const fallback = property["default"];
    return {
      name,
      shape: choices.length > 0 ? "choice" : shapeOf(property),
      description: text(property["description"]),
      isRequired: required.includes(name),
      choices,
      initial: fallback === undefined || fallback === null ? "" : shown(fallback),
    };
  });
}

/** The one plain type of a property; `null` beside it does not count. */
function shapeOf(property: Json): FieldShape {
  const variants = list(property["anyOf"]).filter(isRecord);
  const named = variants.length > 0 ? variants.map((variant) => variant["type"]) : [property["type"]].flat();
  const types = named.filter((type) => type !== "null");
  return types.length === 1 ? (SHAPES[String(types[0])] ?? "json") : "json";
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

export interface FormResult {
  args: Record<string, unknown>;
  /** Names of the fields whose text does not fit. */
  faults: string[];
}

/** The arguments that the texts mean; an empty optional field is left out. */
export function readForm(fields: FormField[], values: FormValues): FormResult {
  const result: FormResult = { args: {}, faults: [] };
  for (const field of fields) {
    const typed = values[field.name] ?? field.initial;
    if (typed === "" && !field.isRequired) continue;
    const value = readField(field.shape, typed);
    if (value === undefined) result.faults.push(field.name);
    else result.args[field.name] = value;
  }
  return result;
}

function readField(shape: FieldShape, typed: string): unknown {
  switch (shape) {
    case "text":
    case "choice":
      return typed;
    case "boolean":
      return typed === "true";
    case "number":
    case "integer": {
      const value = Number(typed);
      const fits = typed.trim() !== "" && Number.isFinite(value) && (shape === "number" || Number.isInteger(value));
      return fits ? value : undefined;
    }
    case "json":
      try {
        return JSON.parse(typed);
      } catch {
        return undefined;
      }
  }
}
