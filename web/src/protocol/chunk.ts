/** The chunks of the chat stream; unknown types are skipped, so that a newer server never breaks an older page. */

import type { Chunk } from "@/protocol/message";
import { isRecord } from "@/protocol/shapes";

const KNOWN = new Set([
  "start",
  "finish",
  "abort",
  "error",
  "message-metadata",
  "start-step",
  "finish-step",
  "reset-step",
  "text-start",
  "text-delta",
  "text-end",
  "reasoning-start",
  "reasoning-delta",
  "reasoning-end",
  "tool-input-start",
  "tool-input-delta",
  "tool-input-available",
  "tool-input-error",
  "tool-approval-request",
  "tool-approval-response",
  "tool-output-available",
  "tool-output-error",
  "tool-output-denied",
  "source-url",
  "source-document",
  "file",
]);

export function parseChunk(data: string): Chunk | null {
  const value: unknown = JSON.parse(data);
  if (!isRecord(value) || typeof value["type"] !== "string") return null;
  const known = KNOWN.has(value["type"]) || value["type"].startsWith("data-");
  return known ? (value as Chunk) : null;
}

/** Joins adjacent text deltas, so that a burst of tokens costs one update instead of hundreds. */
export function joinDeltas(chunks: Chunk[]): Chunk[] {
  const joined: Chunk[] = [];
  for (const chunk of chunks) {
    const last = joined.at(-1);
    if (
      last !== undefined &&
      (last.type === "text-delta" || last.type === "reasoning-delta") &&
      chunk.type === last.type &&
      chunk.id === last.id
    ) {
      joined[joined.length - 1] = { ...last, delta: last.delta + chunk.delta };
    } else joined.push(chunk);
  }
  return joined;
}
