/** The asks of runs, and answers to them. */

import { type Ask, parseAsk } from "@/protocol/ask";
import { isRecord, list, record } from "@/protocol/shapes";
import { getJson, OfflineError, ServerError, sendJson } from "@/transport/http";

const BASE = "/api/v1/asks";
const RETRIES = [100, 300, 900];

export interface Answer {
  approved?: boolean;
  value?: unknown;
  edited_args?: Record<string, unknown>;
  remember?: "once" | "run" | "always";
}

/** The user's open asks, oldest first. */
export async function listAsks(): Promise<Ask[]> {
  const asks = list(record(await getJson(BASE))["asks"]).filter(isRecord);
  return asks.map(parseAsk).filter((ask) => ask !== null);
}

export async function answerAsk(id: string, answer: Answer): Promise<void> {
  await sendJson("POST", `${BASE}/${encodeURIComponent(id)}`, answer);
}

/** Claims an ask for this tab for half a minute; returns whether the tab has it. */
export async function claimAsk(id: string, tabId: string): Promise<boolean> {
  try {
    await sendJson("POST", `${BASE}/${encodeURIComponent(id)}/claim`, { tab_id: tabId });
    return true;
  } catch (error) {
    if (error instanceof ServerError && error.status < 500) return false;
    throw error;
  }
}

export interface Receipt {
  toolCallId: string;
  status: "success" | "failed";
  output?: unknown;
  errorText?: string;
  tabId: string;
}

/** Sends the result of a browser tool (rule C90); retries while the server is unreachable, but a refusal is final. */
export async function acknowledge(receipt: Receipt): Promise<void> {
  for (const pause of RETRIES) {
    if (await wasTaken(receipt)) return;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
  await sendJson("POST", "/ai/tools/ack", receipt);
}

/** False if a retry may help; true also if the call is no longer waiting. */
async function wasTaken(receipt: Receipt): Promise<boolean> {
  try {
    await sendJson("POST", "/ai/tools/ack", receipt);
    return true;
  } catch (error) {
    if (error instanceof OfflineError) return false;
    if (!(error instanceof ServerError)) throw error;
    return error.status < 500;
  }
}
