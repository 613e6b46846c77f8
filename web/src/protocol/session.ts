/** Sessions as the server lists and shows them. */

import type { ChatMessage, MessageMetadata } from "@/protocol/message";
import { isRecord, type Json, list, number, optionalText, record, text, time } from "@/protocol/shapes";

export interface SessionSummary {
  id: string;
  title: string;
  updatedAt: number;
  isRunning: boolean;
  origin: SessionOrigin | null;
  isPinned: boolean;
  folder: string | null;
  /** The messages that contain what was searched. */
  places: Place[];
}

/** A message that contains what was searched, and the neighbourhood of the first place in it. */
export interface Place {
  messageId: string;
  role: string;
  text: string;
}

/** Which sessions are listed; an empty folder: those in none. */
export interface SessionQuery {
  query?: string;
  cursor?: string | null;
  isPinned?: boolean;
  folder?: string;
}

export interface Folder {
  name: string;
  count: number;
}

/** A link that shows a chat to whoever has it. */
export interface Share {
  token: string;
  isWithWork: boolean;
  createdAt: number;
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

/** The options of a chat; what is missing is the server's choice. */
export interface ChatOptions {
  model?: string | undefined;
  mode?: string | undefined;
  instructions?: string | undefined;
  temperature?: number | undefined;
  max_tokens?: number | undefined;
  thinking?: string | undefined;
  time_zone?: string | undefined;
}

/** The agent of a chat and its options. */
export interface ChatChoice extends ChatOptions {
  agent?: string | undefined;
}

/** A change of the choice; null for the server's choice. */
export type ChoiceChange = { [Name in keyof ChatChoice]?: ChatChoice[Name] | null };

/** The wanted part of the shown path: the newest `limit` messages, those in front of one, or also all since one. */
export interface Stretch {
  limit: number;
  before?: string | undefined;
  since?: string | undefined;
}

export interface SessionView {
  title: string;
  runId: string | null;
  messages: ChatMessage[];
  /** How many messages are in front of these. */
  older?: number;
  siblings: Record<string, SiblingInfo>;
  /** The agent that answers here, and the options of its answers. */
  choice?: ChatChoice;
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
    isPinned: value["pinned"] === true,
    folder: optionalText(value["folder"]),
    places: list(value["places"]).filter(isRecord).map(parsePlace),
  };
}

function parsePlace(value: Json): Place {
  return { messageId: text(value["message_id"]), role: text(value["role"]), text: text(value["text"]) };
}

export function parseFolders(value: unknown): Folder[] {
  const folders = list(record(value)["folders"]).filter(isRecord);
  return folders.map((folder) => ({ name: text(folder["name"]), count: number(folder["sessions"]) }));
}

export function parseShare(value: unknown): Share {
  const share = record(value);
  return {
    token: text(share["token"]),
    isWithWork: share["with_work"] === true,
    createdAt: time(share["created_at"]),
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

function parseChoice({ agent, options }: Json): ChatChoice {
  const name = optionalText(agent);
  return { ...(record(options) as ChatOptions), ...(name === null ? {} : { agent: name }) };
}

export function parseView(value: unknown): SessionView {
  const body = record(value);
  const path = list(body["path"]).filter(isRecord);
  return {
    title: text(body["title"]),
    runId: optionalText(body["run_id"]),
    messages: path.map(parseMessage),
    older: number(body["older"]),
    siblings: Object.fromEntries(path.map(({ id, siblings }) => [text(id), parseSibling(record(siblings))])),
    choice: parseChoice(body),
    parentId: optionalText(body["parent_id"]),
    origin: parseOrigin(record(body["origin"])),
  };
}
