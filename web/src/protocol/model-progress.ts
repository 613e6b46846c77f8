/** How far a model is before its first token. */

import type { ChatMessage } from "@/protocol/message";
import { record } from "@/protocol/shapes";

export interface ModelProgress {
  readonly phase: "download" | "read";
  /** A whole number from 0 to 100. */
  readonly percent: number;
}

/** What a data part says of the model's progress, or null if it is about something else. */
export function parseModelProgress({ type, data }: { type: string; data: unknown }): ModelProgress | null {
  const { phase, done, total } = record(data);
  const isKnown = type === "data-model-progress" && (phase === "download" || phase === "read");
  if (!isKnown || typeof done !== "number" || typeof total !== "number") return null;
  return { phase, percent: total > 0 ? Math.floor((100 * Math.min(done, total)) / total) : 0 };
}

/** The end of a chat, as a key: it changes as soon as the model has begun to answer. */
export function endOf(messages: readonly ChatMessage[]): string {
  const last = messages.at(-1);
  return `${last?.id} ${last?.parts.length}`;
}
