/** A run and its journal. */

import type { RunEntry } from "@/protocol/events.gen";
import { isRecord, list, milliseconds, optionalText, record, text } from "@/protocol/shapes";

export interface RunInfo {
  id: string;
  agent: string;
  model: string;
  state: string;
  reason: string | null;
  createdAt: number;
  endedAt: number;
}

export function parseRun(value: unknown): RunInfo {
  const body = record(value);
  return {
    id: text(body["id"] ?? body["run_id"]),
    agent: text(body["agent"]),
    model: text(body["model"]),
    state: text(body["state"]),
    reason: optionalText(body["reason"]),
    createdAt: milliseconds(body["created_at"]),
    endedAt: milliseconds(body["ended_at"]),
  };
}

/** One line of the journal, or null when it is none. */
export function parseEntry(data: string): RunEntry | null {
  return entryOf(JSON.parse(data));
}

/** The journal lines inside a data part: one, or a list of them. */
export function entriesOf(data: unknown): RunEntry[] {
  return [data]
    .flat()
    .map(entryOf)
    .filter((entry) => entry !== null);
}

function entryOf(value: unknown): RunEntry | null {
  if (!isRecord(value) || typeof value["type"] !== "string" || typeof value["number"] !== "number") return null;
  return { ...value, path: list(value["path"]).filter((id) => typeof id === "string") } as RunEntry;
}
