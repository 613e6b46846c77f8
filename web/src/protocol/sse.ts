/** Server-sent events without I/O. */

import { createParser } from "eventsource-parser";

/** Marks the end of a stream. */
const DONE = "[DONE]";

/** Returns a function that takes bytes, however the network cut them, and returns the data of the events they complete. */
export function createEventReader(): (bytes: Uint8Array) => string[] {
  const decoder = new TextDecoder();
  let complete: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => void (data === DONE || complete.push(data)) });
  return (bytes) => {
    complete = [];
    parser.feed(decoder.decode(bytes, { stream: true }));
    return complete;
  };
}
