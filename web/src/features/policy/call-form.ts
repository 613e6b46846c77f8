/** The input of a call as fields: one for each argument of the tool. */

import type { ToolInfo } from "@/protocol/catalog";
import { isRecord, type Json, optionalText, record } from "@/protocol/shapes";

export interface ArgumentField {
  name: string;
  hint: string | null;
  isText: boolean;
}

/** The arguments of a tool, in their order. */
export function fieldsOf(tool: ToolInfo | undefined): ArgumentField[] {
  return Object.entries(record(tool?.parameters["properties"])).map(([name, schema]) => ({
    name,
    hint: optionalText(record(schema)["description"]),
    isText: isRecord(schema) && schema["type"] === "string",
  }));
}

/** The input that fields describe; empty ones are left out, and what should not be a text is read as JSON. */
export function inputOf(fields: readonly ArgumentField[], values: Readonly<Record<string, string>>): Json {
  const input: Json = {};
  for (const { name, isText } of fields) {
    const value = values[name] ?? "";
    if (value !== "") input[name] = isText ? value : readValue(value);
  }
  return input;
}

function readValue(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
