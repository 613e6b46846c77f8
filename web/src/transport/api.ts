/** The server's routes as functions. */

import { type ModelInfo, parseModels } from "@/protocol/model";
import { parseSummaries, parseView, type SessionSummary, type SessionView } from "@/protocol/session";
import { parseTasks, type Task } from "@/protocol/task";
import { getJson, ServerError, sendJson } from "@/transport/http";

const BASE = "/api/v1";

function sessionPath(id: string): string {
  return `${BASE}/sessions/${encodeURIComponent(id)}`;
}

export async function listSessions(
  query: string,
  cursor: string | null,
): Promise<{ sessions: SessionSummary[]; cursor: string | null }> {
  const parameters = new URLSearchParams();
  if (query !== "") parameters.set("q", query);
  if (cursor !== null) parameters.set("cursor", cursor);
  const suffix = parameters.size > 0 ? `?${parameters}` : "";
  return parseSummaries(await getJson(`${BASE}/sessions${suffix}`));
}

/** The stored session, or null if the server does not know it (yet). */
export async function viewSession(id: string): Promise<SessionView | null> {
  try {
    return parseView(await getJson(sessionPath(id)));
  } catch (error) {
    if (error instanceof ServerError && error.status === 404) return null;
    throw error;
  }
}

export async function renameSession(id: string, title: string): Promise<void> {
  await sendJson("PATCH", sessionPath(id), { title });
}

/** Makes another message the end of the shown path. */
export async function moveHead(id: string, head: string): Promise<void> {
  await sendJson("PATCH", sessionPath(id), { head });
}

export async function deleteSession(id: string): Promise<void> {
  await sendJson("DELETE", sessionPath(id));
}

export function exportAddress(id: string, format: "json" | "markdown"): string {
  return `${sessionPath(id)}/export?format=${format}`;
}

/** The background tasks that were started in a session. */
export async function listTasks(sessionId: string): Promise<Task[]> {
  return parseTasks(await getJson(`${sessionPath(sessionId)}/children`));
}

export async function listModels(): Promise<ModelInfo[]> {
  return parseModels(await getJson(`${BASE}/models`));
}
