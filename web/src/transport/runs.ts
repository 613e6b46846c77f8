/** The journals of runs. */

import type { RunEntry } from "@/protocol/events.gen";
import { parseEntry } from "@/protocol/journal";
import { parseRunTimes, type RunTimes } from "@/protocol/run";
import { createEventReader } from "@/protocol/sse";
import { ownerQuery } from "@/transport/admin";
import { getJson, send } from "@/transport/http";

export async function readRunTimes(id: string, signal: AbortSignal): Promise<RunTimes> {
  const query = new URLSearchParams(ownerQuery());
  return parseRunTimes(await getJson(`/api/v1/runs/${encodeURIComponent(id)}?${query}`, signal));
}

/** The journal after a number, in batches as they arrive; ends with the run. */
export async function* readJournal(id: string, after: number, signal: AbortSignal): AsyncGenerator<RunEntry[]> {
  const query = new URLSearchParams({ after: String(after), ...ownerQuery() });
  const response = await send(`/api/v1/runs/${encodeURIComponent(id)}/events?${query}`, {
    headers: { accept: "text/event-stream" },
    signal,
  });
  if (response.body === null) return;
  const readEvents = createEventReader();
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield readEvents(value)
      .map(parseEntry)
      .filter((entry) => entry !== null);
  }
}
