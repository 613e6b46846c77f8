/** Sessions as the server lists and shows them. */

import type { ChatMessage, MessageMetadata } from "@/protocol/message";
import { isRecord, type Json, list, number, optionalText, record, text, time } from "@/protocol/shapes";

export interface SessionSummary {
  id: string;
  title: string;
  updatedAt: number;
  isRunning: boolean;
  origin: SessionOrigin | null;
}

/** What started a session that no person has started. */
export type SessionOrigin =
  | { kind: "background"; agent: string }
  | { kind: "schedule"; scheduleId: string; tickAt: number };

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
  /** The agent that answers here unless another one is chosen. */
  agent?: string | null;
  /** The session whose agent started this one. */
  parentId?: string | null;
  origin?: SessionOrigin | null;
}

function parseSummary(value: Json): SessionSummary {
  return {
    id: text(value["id"]),
    title: text(value["title"]),
    updatedAt: time(value["updated_at"]),
    isRunning: optionalText(value["run_id"]) !== null,
    origin: parseOrigin(record(value["origin"])),
  };
}

/** Seconds since 1970, or a time in ISO 8601, in milliseconds. */
function momentOf(value: unknown): number {
  return typeof value === "number" ? value * 1000 : time(value);
}

function parseOrigin({ kind, agent, schedule_id: scheduleId, tick_at: tickAt }: Json): SessionOrigin | null {
  if (kind === "background") return { kind, agent: text(agent) };
  return kind === "schedule" ? { kind, scheduleId: text(scheduleId), tickAt: momentOf(tickAt) } : null;
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
    agent: optionalText(body["agent"]),
    parentId: optionalText(body["parent_id"]),
    origin: parseOrigin(record(body["origin"])),
  };
}
