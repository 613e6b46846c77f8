/** The schedules of agents. */

import { type NewSchedule, parseSchedules, type Schedule } from "@/protocol/schedule";
import { optionalText, record } from "@/protocol/shapes";
import { getJson, sendJson } from "@/transport/http";

const BASE = "/api/v1/schedules";

function pathOf(id: string): string {
  return `${BASE}/${encodeURIComponent(id)}`;
}

export async function listSchedules(): Promise<Schedule[]> {
  return parseSchedules(await getJson(BASE));
}

export async function addSchedule(schedule: NewSchedule): Promise<void> {
  await sendJson("POST", BASE, schedule);
}

export async function enableSchedule(id: string, isEnabled: boolean): Promise<void> {
  await sendJson("PATCH", pathOf(id), { enabled: isEnabled });
}

export async function deleteSchedule(id: string): Promise<void> {
  await sendJson("DELETE", pathOf(id));
}

/** Runs it now, in addition to its times; returns the session, if the server names it. */
export async function runSchedule(id: string): Promise<string | null> {
  return optionalText(record(await sendJson("POST", `${pathOf(id)}/run`))["session_id"]);
}
