/** The stream of everything that changes. */

import { type FeedEvent, parseFeedEvent, parseWaiting, type WaitingAsk } from "@/protocol/feed";
import { createEventReader } from "@/protocol/sse";
import { getJson, send } from "@/transport/http";

/** The server sends something at least every 15 seconds; a connection that is silent for longer is dead. */
const SILENCE = 40_000;

/** The events as they arrive, in batches; throws if the connection breaks, returns if the server ends it. */
export async function* readFeed(signal: AbortSignal): AsyncGenerator<FeedEvent[]> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE);
  try {
    const response = await send("/api/v1/feed", {
      headers: { accept: "text/event-stream" },
      signal: AbortSignal.any([signal, silence.signal]),
    });
    const reader = response.body?.getReader();
    const readEvents = createEventReader();
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true };
      if (done || value === undefined) return;
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE);
      yield readEvents(value)
        .map(parseFeedEvent)
        .filter((event) => event !== null);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Everything that waits for the user, oldest first. */
export async function listWaiting(): Promise<WaitingAsk[]> {
  return parseWaiting(await getJson("/api/v1/asks"));
}
