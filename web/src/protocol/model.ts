/** The server's models and the progress of their downloads. */

import { isRecord, type Json, list, number, optionalText, record, text } from "@/protocol/shapes";

export type ModelState = "ready" | "downloading" | "missing" | "failed";

export interface ModelInfo {
  name: string;
  /** The full name of the model. */
  title: string;
  state: ModelState;
  active: boolean;
  progress: { done: number; total: number } | null;
  error: string | null;
}

const STATES: readonly string[] = ["ready", "downloading", "missing", "failed"];

function isState(value: unknown): value is ModelState {
  return typeof value === "string" && STATES.includes(value);
}

function parseModel(value: Json): ModelInfo {
  const progress = record(value["progress"]);
  return {
    name: text(value["name"]),
    title: text(value["title"]),
    state: isState(value["state"]) ? value["state"] : "ready",
    active: value["active"] === true,
    progress: isRecord(value["progress"]) ? { done: number(progress["done"]), total: number(progress["total"]) } : null,
    error: optionalText(value["error"]),
  };
}

export function parseModels(value: unknown): ModelInfo[] {
  return list(record(value)["models"]).filter(isRecord).map(parseModel);
}
