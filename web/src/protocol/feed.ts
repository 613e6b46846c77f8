/** The feed: what has changed on the server, and what waits for a person. */

import { DEFAULT_AGENT } from "@/protocol/catalog";
import { isRecord, type Json, list, number, optionalText, readableName, record, text, time } from "@/protocol/shapes";

export type FeedEvent =
  /** Everything may have changed. */
  | { type: "reset" }
  | { type: "session"; sessionId: string; change: "created" | "changed" | "deleted"; parentId: string | null }
  | { type: "run"; runId: string; sessionId: string | null; state: "running" | "waiting" | "ended" }
  | { type: "ask"; askId: string; runId: string; sessionId: string | null; state: "open" | "answered" | "ended" }
  | { type: "extensions"; generation: number };

export type FeedType = FeedEvent["type"];

/** The event, or null for one that this page does not know. */
export function parseFeedEvent(data: string): FeedEvent | null {
  const value = record(parseJson(data));
  const sessionId = optionalText(value["session_id"]);
  switch (value["type"]) {
    case "reset":
      return { type: "reset" };
    case "session":
      return sessionId === null
        ? null
        : { type: "session", sessionId, change: changeOf(value["change"]), parentId: optionalText(value["parent_id"]) };
    case "run":
      return { type: "run", runId: text(value["run_id"]), sessionId, state: runStateOf(value["state"]) };
    case "ask": {
      const state = value["state"] === "open" || value["state"] === "answered" ? value["state"] : "ended";
      return { type: "ask", askId: text(value["ask_id"]), runId: text(value["run_id"]), sessionId, state };
    }
    case "extensions":
      return { type: "extensions", generation: number(value["generation"]) };
    default:
      return null;
  }
}

function parseJson(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return null;
  }
}

const changeOf = (value: unknown) => (value === "created" || value === "deleted" ? value : "changed");
const runStateOf = (value: unknown) => (value === "running" || value === "waiting" ? value : "ended");

/** An approval or a question that waits for a person, and where. */
export interface WaitingAsk {
  id: string;
  kind: "approval" | "question";
  callId: string;
  /** The title of the tool that wants to run, or the question. */
  subject: string;
  /** The argument that names what the tool is about, if any. */
  about: string;
  /** Whether it changes a file, which should be looked at first. */
  changesFile: boolean;
  sessionId: string | null;
  /** The chat in whose background it was asked. */
  parentId: string | null;
  chatTitle: string;
  /** Empty for the usual one. */
  agent: string;
  since: number;
}

export function parseWaiting(value: unknown): WaitingAsk[] {
  return list(record(value)["asks"])
    .filter(isRecord)
    .filter((ask) => ask["kind"] === "approval" || ask["kind"] === "question")
    .map(parseWaitingAsk);
}

function parseWaitingAsk(ask: Json): WaitingAsk {
  const payload = record(ask["payload"]);
  const kind = ask["kind"] === "approval" ? "approval" : "question";
  const agent = text(list(payload["agent_path"]).at(-1)) || text(ask["agent"]);
  return {
    id: text(ask["ask_id"]),
    kind,
    callId: text(ask["call_id"]),
    subject: kind === "approval" ? readableName(text(payload["title"]) || text(payload["tool"])) : questionOf(payload),
    about: kind === "approval" ? objectOf(record(payload["args"])) : "",
    changesFile: record(payload["preview"])["kind"] === "diff",
    sessionId: optionalText(ask["session_id"]),
    parentId: optionalText(ask["parent_session_id"]),
    chatTitle: text(ask["session_title"]),
    agent: agent === DEFAULT_AGENT ? "" : agent,
    since: time(ask["created_at"]),
  };
}

function objectOf(args: Json): string {
  const named = ["path", "file", "filename", "url", "command", "query", "name"].map((key) => args[key]);
  return (
    text(named.find((one) => typeof one === "string" && one !== ""))
      .split("\n", 1)[0]
      ?.slice(0, 80) ?? ""
  );
}

function questionOf(payload: Json): string {
  const first = record(list(payload["questions"])[0]);
  return text(first["question"]) || text(payload["question"]) || text(payload["message"]) || text(payload["text"]);
}
