/** Server-sent events without I/O. */

import { createParser } from "eventsource-parser";

/** Marks the end of a stream. */
const DONE = "[DONE]";

/** Turns bytes into the data of complete events: one batch per piece of bytes, wherever the network cut them. */
export function eventBatches(): TransformStream<Uint8Array, string[]> {
  const decoder = new TextDecoder();
  let batch: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => void (data === DONE || batch.push(data)) });
  return new TransformStream({
    transform(bytes, controller) {
      parser.feed(decoder.decode(bytes, { stream: true }));
      controller.enqueue(batch);
      batch = [];
    },
  });
}
