/** Messages for runs in progress. */

import { type Delivery, type InboxMessage, type MessageMode, parseDelivery, parseInbox } from "@/protocol/inbox";
import type { MessagePart } from "@/protocol/message";
import { getJson, ServerError, sendJson } from "@/transport/http";

const BASE = "/api/v1";

function inboxPath(sessionId: string): string {
  return `${BASE}/sessions/${encodeURIComponent(sessionId)}/inbox`;
}

/** Sends a message to a run, once for each id; if the run has ended, another one answers it. */
export async function sendToRun(
  runId: string,
  parts: MessagePart[],
  mode: MessageMode,
  id: string = crypto.randomUUID(),
): Promise<Delivery> {
  const path = `${BASE}/runs/${encodeURIComponent(runId)}/messages`;
  return parseDelivery(await sendJson("POST", path, { id, parts, mode }));
}

export async function listInbox(sessionId: string): Promise<InboxMessage[]> {
  return parseInbox(await getJson(inboxPath(sessionId)));
}

/** Takes a message back; one that a run has taken stays sent. */
export async function removeFromInbox(sessionId: string, messageId: string): Promise<void> {
  try {
    await sendJson("DELETE", `${inboxPath(sessionId)}/${encodeURIComponent(messageId)}`);
  } catch (error) {
    const wasTaken = error instanceof ServerError && (error.status === 404 || error.status === 409);
    if (!wasTaken) throw error;
  }
}
