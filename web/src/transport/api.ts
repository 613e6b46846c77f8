/** The server's routes as functions. */

import { type ModelInfo, parseModels } from "@/protocol/model";
import {
  type ChoiceChange,
  type Folder,
  parseFolders,
  parseSummaries,
  parseView,
  type SessionQuery,
  type SessionSummary,
  type SessionView,
  type Stretch,
} from "@/protocol/session";
import { parseTasks, type Task } from "@/protocol/task";
import { getJson, ServerError, sendJson } from "@/transport/http";

const BASE = "/api/v1";

function sessionPath(id: string): string {
  return `${BASE}/sessions/${encodeURIComponent(id)}`;
}

export async function listSessions(
  wanted: SessionQuery,
): Promise<{ sessions: SessionSummary[]; cursor: string | null }> {
  const parameters = new URLSearchParams();
  if (wanted.query) parameters.set("q", wanted.query);
  if (wanted.cursor) parameters.set("cursor", wanted.cursor);
  if (wanted.isPinned !== undefined) parameters.set("pinned", String(wanted.isPinned));
  if (wanted.folder !== undefined) parameters.set("folder", wanted.folder);
  const suffix = parameters.size > 0 ? `?${parameters}` : "";
  return parseSummaries(await getJson(`${BASE}/sessions${suffix}`));
}

/** Pins a session, or puts it into a folder; null: into none. */
export async function fileSession(id: string, change: { pinned?: boolean; folder?: string | null }): Promise<void> {
  await sendJson("PATCH", sessionPath(id), change);
}

export async function listFolders(): Promise<Folder[]> {
  return parseFolders(await getJson(`${BASE}/folders`));
}

/** Renames a folder; null takes its sessions out of it. */
export async function changeFolder(name: string, newName: string | null): Promise<void> {
  await sendJson("PATCH", `${BASE}/folders/${encodeURIComponent(name)}`, { name: newName });
}

/** The stored session with a part of its path, or null if the server does not know it (yet). */
export async function viewSession(id: string, { limit, before, since }: Stretch): Promise<SessionView | null> {
  const wanted = new URLSearchParams({ limit: String(limit) });
  if (before !== undefined) wanted.set("before", before);
  if (since !== undefined) wanted.set("since", since);
  try {
    return parseView(await getJson(`${sessionPath(id)}?${wanted}`));
  } catch (error) {
    if (error instanceof ServerError && error.status === 404) return null;
    throw error;
  }
}

export async function renameSession(id: string, title: string): Promise<void> {
  await sendJson("PATCH", sessionPath(id), { title });
}

/** Changes the agent and the options of a chat. */
export async function changeChoice(id: string, { agent, ...options }: ChoiceChange): Promise<void> {
  const change = { ...(agent === undefined ? {} : { agent }), ...(Object.keys(options).length > 0 ? { options } : {}) };
  await sendJson("PATCH", sessionPath(id), change);
}

/** Deletes a message and all that follows it. */
export async function deleteMessage(id: string, messageId: string): Promise<void> {
  await sendJson("DELETE", `${sessionPath(id)}/messages/${encodeURIComponent(messageId)}`);
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
