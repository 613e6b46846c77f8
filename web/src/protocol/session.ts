/** Sessions as the server lists and shows them. */

import type { ChatMessage, MessageMetadata } from "@/protocol/message";
import { isRecord, type Json, list, milliseconds, number, optionalText, record, text } from "@/protocol/shapes";

export interface SessionSummary {
  id: string;
  title: string;
  updatedAt: number;
  running: boolean;
}

export interface SiblingInfo {
  index: number;
  total: number;
  previous: string | null;
  next: string | null;
}

export interface SessionView {
  id: string;
  title: string;
  head: string | null;
  runId: string | null;
  messages: ChatMessage[];
  siblings: Record<string, SiblingInfo>;
}

export function parseSummary(value: Json): SessionSummary {
  return {
    id: text(value["id"]),
    title: text(value["title"]),
    updatedAt: milliseconds(value["updated_at"] ?? value["created_at"]),
    running: value["running"] === true || optionalText(value["run_id"]) !== null,
  };
}

export function parseSummaries(value: unknown): { sessions: SessionSummary[]; cursor: string | null } {
  const body = record(value);
  return {
    sessions: list(body["sessions"]).filter(isRecord).map(parseSummary),
    cursor: optionalText(body["cursor"] ?? body["next_cursor"]),
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
    previous: optionalText(value["previous"] ?? value["prev"]),
    next: optionalText(value["next"]),
  };
}

export function parseView(value: unknown): SessionView {
  const body = record(value);
  const path = list(body["path"] ?? body["messages"]).filter(isRecord);
  const siblings: Record<string, SiblingInfo> = {};
  for (const [id, info] of Object.entries(record(body["siblings"]))) siblings[id] = parseSibling(record(info));
  for (const message of path) {
    if (isRecord(message["siblings"])) siblings[text(message["id"])] = parseSibling(message["siblings"]);
  }
  return {
    id: text(body["id"]),
    title: text(body["title"]),
    head: optionalText(body["head"]),
    runId: optionalText(body["run_id"]),
    messages: path.map(parseMessage),
    siblings,
  };
}
