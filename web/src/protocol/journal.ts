/** The journal of a run. */

import type { RunEntry } from "@/protocol/events.gen";
import { isRecord, list } from "@/protocol/shapes";

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
