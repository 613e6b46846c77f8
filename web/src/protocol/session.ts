/** Sessions as the server lists and shows them. */

import type { ChatMessage, MessageMetadata } from "@/protocol/message";
import { isRecord, type Json, list, number, optionalText, record, text, time } from "@/protocol/shapes";

export interface SessionSummary {
  id: string;
  title: string;
  updatedAt: number;
  isRunning: boolean;
}

export interface SiblingInfo {
  index: number;
  total: number;
  previous: string | null;
  next: string | null;
}

export interface SessionView {
  title: string;
  runId: string | null;
  messages: ChatMessage[];
  siblings: Record<string, SiblingInfo>;
}

function parseSummary(value: Json): SessionSummary {
  return {
    id: text(value["id"]),
    title: text(value["title"]),
    updatedAt: time(value["updated_at"]),
    isRunning: optionalText(value["run_id"]) !== null,
  };
}

export function parseSummaries(value: unknown): { sessions: SessionSummary[]; cursor: string | null } {
  const body = record(value);
  return {
    sessions: list(body["sessions"]).filter(isRecord).map(parseSummary),
    cursor: optionalText(body["cursor"]),
  };
}

function parseMessage(value: Json): ChatMessage {
  const role = value["role"];
  return {
    id: text(value["id"]),
    role: role === "user" || role === "system" ? role : "assistant",
    parts: list(value["parts"]).filter(isRecord) as ChatMessage["parts"],
    metadata: { ...record(value["metadata"]), parent_id: optionalText(value["parent_id"]) } as MessageMetadata,
  };
}

function parseSibling(value: Json): SiblingInfo {
  return {
    index: number(value["index"]),
    total: number(value["total"], 1),
    previous: optionalText(value["previous"]),
    next: optionalText(value["next"]),
  };
}

export function parseView(value: unknown): SessionView {
  const body = record(value);
  const path = list(body["path"]).filter(isRecord);
  return {
    title: text(body["title"]),
    runId: optionalText(body["run_id"]),
    messages: path.map(parseMessage),
    siblings: Object.fromEntries(path.map(({ id, siblings }) => [text(id), parseSibling(record(siblings))])),
  };
}
