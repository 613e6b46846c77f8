/** Links that show a chat to whoever has them. */

import { parseShare, parseView, type SessionView, type Share } from "@/protocol/session";
import { list, record } from "@/protocol/shapes";
import { getJson, sendJson } from "@/transport/http";

const BASE = "/api/v1";

function path(sessionId: string): string {
  return `${BASE}/sessions/${encodeURIComponent(sessionId)}/shares`;
}

export async function listShares(sessionId: string): Promise<Share[]> {
  return list(record(await getJson(path(sessionId)))["shares"]).map(parseShare);
}

export async function addShare(sessionId: string, isWithWork: boolean): Promise<Share> {
  return parseShare(await sendJson("POST", path(sessionId), { with_work: isWithWork }));
}

export async function revokeShare(sessionId: string, token: string): Promise<void> {
  await sendJson("DELETE", `${path(sessionId)}/${encodeURIComponent(token)}`);
}

/** The chat that a link shows. */
export async function viewShared(token: string): Promise<SessionView> {
  return parseView(await getJson(`${BASE}/shared/${encodeURIComponent(token)}`));
}
