/** The server's models and the progress of their downloads. */

import { isRecord, type Json, list, number, optionalText, record, text } from "@/protocol/shapes";

export type ModelState = "ready" | "downloading" | "missing" | "failed";

export interface ModelInfo {
  name: string;
  /** The full name of the model. */
  title: string;
  state: ModelState;
  active: boolean;
  /** It answers only because the default model could not be downloaded. */
  isStandIn: boolean;
  /** Per million tokens. */
  price: { input: number; output: number } | null;
  /** The tokens that it can read. */
  window: number | null;
  progress: { done: number; total: number } | null;
  error: string | null;
}

const STATES: readonly string[] = ["ready", "downloading", "missing", "failed"];

function isState(value: unknown): value is ModelState {
  return typeof value === "string" && STATES.includes(value);
}

function parseModel(value: Json): ModelInfo {
  const progress = record(value["progress"]);
  const window = number(value["context_tokens"]);
  return {
    name: text(value["name"]),
    title: text(value["title"]),
    state: isState(value["state"]) ? value["state"] : "ready",
    active: value["active"] === true,
    isStandIn: value["stand_in"] === true,
    price: parsePrice(record(value["price"])),
    window: window > 0 ? window : null,
    progress: isRecord(value["progress"]) ? { done: number(progress["done"]), total: number(progress["total"]) } : null,
    error: optionalText(value["error"]),
  };
}

function parsePrice(value: Json): ModelInfo["price"] {
  const [input, output] = [number(value["input"], -1), number(value["output"], -1)];
  return input < 0 || output < 0 ? null : { input, output };
}

export function parseModels(value: unknown): ModelInfo[] {
  return list(record(value)["models"]).filter(isRecord).map(parseModel);
}
