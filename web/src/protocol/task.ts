/** Background tasks: sub-agents that work in sessions of their own, below the session that started them. */

import { isRecord, type Json, list, optionalText, record, text, time } from "@/protocol/shapes";

export type TaskState = "queued" | "running" | "waiting" | "ended";

export interface Task {
  sessionId: string;
  /** Its newest run. */
  runId: string;
  agent: string;
  title: string;
  state: TaskState;
  /** How it ended. */
  reason: string | null;
  createdAt: number;
  endedAt: number | null;
  /** The call that started it; null if it was started over HTTP. */
  callId: string | null;
}

const STATES: readonly string[] = ["queued", "running", "waiting", "ended"];

function parseTask(value: Json): Task {
  const state = text(value["state"]);
  return {
    sessionId: text(value["session_id"]),
    runId: text(value["run_id"]),
    agent: text(value["agent"]),
    title: text(value["title"]),
    state: STATES.includes(state) ? (state as TaskState) : "running",
    reason: optionalText(value["reason"]),
    createdAt: time(value["created_at"]),
    endedAt: optionalText(value["ended_at"]) === null ? null : time(value["ended_at"]),
    callId: optionalText(value["call_id"]),
  };
}

export function parseTasks(value: unknown): Task[] {
  return list(record(value)["children"]).filter(isRecord).map(parseTask);
}
