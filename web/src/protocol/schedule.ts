/** Schedules: an agent that is asked the same again and again, by the clock. */

import { isRecord, type Json, list, optionalText, record, text, time } from "@/protocol/shapes";

export interface Schedule {
  id: string;
  agent: string;
  /** Five cron fields and a time zone. */
  schedule: string;
  message: string;
  title: string;
  isEnabled: boolean;
  /** Whether an agent's file declares it. */
  isFromFile: boolean;
  nextAt: number | null;
  last: Tick | null;
}

/** A time at which the schedule was due, and the run that came of it. */
export interface Tick {
  at: number;
  state: string;
  sessionId: string | null;
  /** Why it has no run. */
  detail: string | null;
}

export interface NewSchedule {
  agent: string;
  schedule: string;
  message: string;
  title?: string;
  missed?: "latest" | "skip";
}

function parseTick(value: Json): Tick {
  return {
    at: time(value["tick_at"]),
    state: text(value["state"]),
    sessionId: optionalText(value["session_id"]),
    detail: optionalText(value["detail"]),
  };
}

function parseSchedule(value: Json): Schedule {
  return {
    id: text(value["id"]),
    agent: text(value["agent"]),
    schedule: text(value["schedule"]),
    message: text(value["message"]),
    title: text(value["title"]),
    isEnabled: value["enabled"] !== false,
    isFromFile: value["source"] === "file",
    nextAt: optionalText(value["next_at"]) === null ? null : time(value["next_at"]),
    last: isRecord(value["last"]) ? parseTick(value["last"]) : null,
  };
}

export function parseSchedules(value: unknown): Schedule[] {
  return list(record(value)["schedules"]).filter(isRecord).map(parseSchedule);
}
