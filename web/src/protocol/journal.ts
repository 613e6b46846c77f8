/** The journal of a run. */

import type { RunEntry } from "@/protocol/events.gen";
import { isRecord, list } from "@/protocol/shapes";

/** An entry of the journal, or null if the data is not one. */
export function parseEntry(data: string): RunEntry | null {
  return entryOf(JSON.parse(data));
}

/** The entries in a data part, which has one or a list of them. */
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
