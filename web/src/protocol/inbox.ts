/** Messages for a run in progress: sent into its next turn (`steer`), or answered after it (`queue`). */

import type { MessagePart } from "@/protocol/message";
import { isRecord, list, record, text } from "@/protocol/shapes";

export type MessageMode = "steer" | "queue";

/** A message that no run has taken yet; a `notice` does not come from a person. */
export interface InboxMessage {
  id: string;
  kind: MessageMode | "notice";
  parts: MessagePart[];
}

/** Where a message went: a run that has ended cannot be steered, so it is answered by a run of its own. */
export interface Delivery {
  id: string;
  mode: MessageMode;
}

/** A message that a run has taken, as a part of its answer. */
export interface TakenMessage {
  kind: "steer" | "notice";
  parts: MessagePart[];
  /** The background task whose end it announces. */
  task: { sessionId: string; agent: string } | null;
}

export function parseInbox(value: unknown): InboxMessage[] {
  return list(record(value)["messages"])
    .filter(isRecord)
    .map(({ id, kind, parts }) => ({
      id: text(id),
      kind: kind === "steer" || kind === "notice" ? kind : "queue",
      parts: partsIn(parts),
    }));
}

export function parseDelivery(value: unknown): Delivery {
  const { message_id: id, mode } = record(value);
  return { id: text(id), mode: mode === "steer" ? "steer" : "queue" };
}

/** The message in a `data-user-message` part; null for every other part. */
export function takenMessage(part: MessagePart): TakenMessage | null {
  if (part.type !== "data-user-message") return null;
  const { kind, parts } = record((part as { data?: unknown }).data);
  return { kind: kind === "notice" ? "notice" : "steer", parts: partsIn(parts), task: taskIn(partsIn(parts)) };
}

function taskIn(parts: readonly MessagePart[]): TakenMessage["task"] {
  const part = parts.find(({ type }) => type === "data-task") as { data?: unknown } | undefined;
  const { task_id: id, agent } = record(part?.data);
  return typeof id === "string" ? { sessionId: id, agent: text(agent) } : null;
}

/** The words of a message: its texts, otherwise the names of its files. */
export function wordsOf(parts: readonly MessagePart[]): string {
  const texts = parts.map((part) => (part.type === "text" ? part.text : "")).filter((words) => words !== "");
  if (texts.length > 0) return texts.join("\n");
  return parts.map((part) => (part.type === "file" ? (part.filename ?? part.mediaType) : "")).join(" ");
}

function partsIn(value: unknown): MessagePart[] {
  return list(value).filter(isRecord) as unknown[] as MessagePart[];
}
