/** A form made from a JSON Schema: its fields at any depth, and their values. */

import { isRecord, type Json, list, record, text } from "@/protocol/shapes";

export type FieldShape = "text" | "number" | "integer" | "boolean" | "choice" | "json" | "object" | "list";

export interface FormField {
  name: string;
  shape: FieldShape;
  description: string;
  isRequired: boolean;
  /** The values of a choice. */
  choices: readonly unknown[];
  /** The fields of an object. */
  fields: readonly FormField[];
  /** The shape of the items of a list. */
  item: FormField | null;
  /** The initial value; undefined for an object or list that has not been added. */
  initial: FormValue | undefined;
}

/** What is typed: texts, and for objects and lists their parts. */
export type FormValue = string | FormValue[] | { [name: string]: FormValue | undefined };

const PLAIN: Record<string, FieldShape> = {
  string: "text",
  number: "number",
  integer: "integer",
  boolean: "boolean",
};
const DEEPEST = 5;

export function fieldsOf(schema: Json, root: Json = schema, depth = 0): FormField[] {
  const required = list(schema["required"]);
  return Object.entries(record(schema["properties"])).map(([name, property]) =>
    makeField(name, record(property), required.includes(name), root, depth),
  );
}

function makeField(name: string, given: Json, isRequired: boolean, root: Json, depth: number): FormField {
  const schema = { ...resolve(given, root), ...pick(given, "description", "default") };
  const shape = shapeOf(schema, depth);
  const choices = shape === "choice" ? [...list(schema["enum"])] : [];
  const fields = shape === "object" ? fieldsOf(schema, root, depth + 1) : [];
  const item = shape === "list" ? makeField("", record(schema["items"]), true, root, depth + 1) : null;
  const field = { name, shape, description: text(schema["description"]), isRequired, choices, fields, item };
  const fallback = schema["default"];
  return { ...field, initial: fallback === undefined || fallback === null ? blank(field) : typed(fallback, shape) };
}

/** The value of an empty field. */
export function blank(field: Pick<FormField, "shape" | "fields" | "isRequired">): FormValue | undefined {
  if (field.shape === "list") return field.isRequired ? [] : undefined;
  if (field.shape !== "object") return "";
  return field.isRequired ? opened(field) : undefined;
}

/** A new object with all its fields. */
export function opened(field: Pick<FormField, "fields">): FormValue {
  return Object.fromEntries(field.fields.map((inner) => [inner.name, inner.initial]));
}

/** Resolves a reference; of several variants, returns the only one besides `null`. */
function resolve(schema: Json, root: Json): Json {
  const reference = schema["$ref"];
  if (typeof reference === "string") {
    const path = reference.replace(/^#\/?/, "").split("/");
    return resolve(record(path.reduce<unknown>((at, key) => record(at)[key], root)), root);
  }
  const variants = [...list(schema["anyOf"]), ...list(schema["oneOf"])].filter(isRecord);
  const real = variants.filter((variant) => variant["type"] !== "null");
  return real.length === 1 && real[0] !== undefined ? resolve(real[0], root) : schema;
}

function shapeOf(schema: Json, depth: number): FieldShape {
  if (list(schema["enum"]).length > 0) return "choice";
  const types = [schema["type"]].flat().filter((type) => type !== "null");
  const type = types.length === 1 ? String(types[0]) : "";
  if (depth < DEEPEST && type === "object" && Object.keys(record(schema["properties"])).length > 0) return "object";
  if (depth < DEEPEST && type === "array" && isRecord(schema["items"])) return "list";
  return PLAIN[type] ?? "json";
}

function pick(schema: Json, ...names: string[]): Json {
  return Object.fromEntries(names.filter((name) => name in schema).map((name) => [name, schema[name]]));
}

/** A value as it would be typed. */
function typed(value: unknown, shape: FieldShape): FormValue {
  if (shape === "object" && isRecord(value)) return value as FormValue;
  if (shape === "list" && Array.isArray(value))
    return value.map((item) => (isRecord(item) ? item : shown(item)) as FormValue);
  return shown(value);
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
