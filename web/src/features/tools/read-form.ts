/** The arguments of a completed form. */

import type { FormField, FormValue } from "@/features/tools/schema-form";
import { isRecord } from "@/protocol/shapes";

export type FormValues = { [name: string]: FormValue | undefined };

export interface FormResult {
  args: Record<string, unknown>;
  /** Paths (`boards.0.width`) of the fields with invalid text. */
  faults: string[];
}

/** The arguments as typed, without empty optional fields. */
export function readForm(fields: readonly FormField[], values: FormValues): FormResult {
  const faults: string[] = [];
  return { args: readObject(fields, values, "", faults), faults };
}

function readObject(fields: readonly FormField[], values: FormValues, at: string, faults: string[]) {
  const read: Record<string, unknown> = {};
  for (const field of fields) {
    const value = field.name in values ? values[field.name] : field.initial;
    const isAbsent = value === undefined || (value === "" && !field.isRequired);
    if (isAbsent && !field.isRequired) continue;
    read[field.name] = readValue(field, value ?? "", at + field.name, faults);
  }
  return read;
}

function readValue(field: FormField, value: FormValue, at: string, faults: string[]): unknown {
  if (field.shape === "object") return readObject(field.fields, isRecord(value) ? value : {}, `${at}.`, faults);
  const { item } = field;
  if (field.shape === "list" && item !== null) {
    const items = Array.isArray(value) ? value : [];
    return items.map((one, index) => readValue(item, one, `${at}.${index}`, faults));
  }
  const read = readText(field, typeof value === "string" ? value : "");
  if (read === undefined) faults.push(at);
  return read;
}

function readText(field: FormField, typed: string): unknown {
  switch (field.shape) {
    case "choice":
      return field.choices.find((choice) => String(choice) === typed);
    case "boolean":
      return typed === "" ? undefined : typed === "true";
    case "number":
    case "integer": {
      const value = Number(typed);
      const fits =
        typed.trim() !== "" && Number.isFinite(value) && (field.shape === "number" || Number.isInteger(value));
      return fits ? value : undefined;
    }
    case "json":
      try {
        return JSON.parse(typed);
      } catch {
        return undefined;
      }
    default:
      return typed;
  }
}
