/** The journals of runs. */

import type { RunEntry } from "@/protocol/events.gen";
import { parseEntry } from "@/protocol/journal";
import { createEventReader } from "@/protocol/sse";
import { send } from "@/transport/http";

/** The journal after a number, in batches as they arrive; ends with the run. */
export async function* readJournal(id: string, after: number, signal: AbortSignal): AsyncGenerator<RunEntry[]> {
  const response = await send(`/api/v1/runs/${encodeURIComponent(id)}/events?after=${after}`, {
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
