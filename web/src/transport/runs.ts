/** The journals of runs. */

import type { RunEntry } from "@/protocol/events.gen";
import { parseEntry } from "@/protocol/run";
import { EventSplitter } from "@/protocol/sse";
import { send } from "@/transport/http";

/** The journal from a number on, in batches as they arrive; ends with the run. */
export async function* readJournal(id: string, after: number, signal: AbortSignal): AsyncGenerator<RunEntry[]> {
  const response = await send(`/api/v1/runs/${encodeURIComponent(id)}/events?after=${after}`, {
    headers: { accept: "text/event-stream" },
    signal,
  });
  if (response.body === null) return;
  const splitter = new EventSplitter();
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = splitter.feed(decoder.decode(value, { stream: true }));
    const entries = events.map((event) => (event.data === "[DONE]" ? null : parseEntry(event.data)));
    yield entries.filter((entry) => entry !== null);
  }
}
