/** The asks of runs, and answers to them. */

import { type Ask, parseAsk } from "@/protocol/ask";
import { isRecord, list, optionalText, record } from "@/protocol/shapes";
import { getJson, OfflineError, ServerError, sendJson } from "@/transport/http";

const BASE = "/api/v1/asks";
const RETRIES = [100, 300, 900];

export interface Answer {
  approved?: boolean;
  value?: unknown;
  edited_args?: Record<string, unknown>;
  remember?: "once" | "run" | "always";
  /** Why not; the model reads it. */
  reason?: string;
}

/** The user's open asks, oldest first. */
export async function listAsks(): Promise<Ask[]> {
  const asks = list(record(await getJson(BASE))["asks"]).filter(isRecord);
  return asks.map(parseAsk).filter((ask) => ask !== null);
}

export async function answerAsk(id: string, answer: Answer): Promise<void> {
  await sendJson("POST", `${BASE}/${encodeURIComponent(id)}`, answer);
}

/** How an ask stands for this tab: no tab has claimed it, another one has, or it is no longer open. */
export async function lookAtAsk(id: string, tabId: string): Promise<"free" | "taken" | "over"> {
  const asks = list(record(await getJson(BASE))["asks"]).filter(isRecord);
  const ask = asks.find((one) => one["ask_id"] === id);
  if (ask === undefined) return "over";
  const holder = optionalText(ask["claimed_by"]);
  return holder === null || holder === tabId ? "free" : "taken";
}

/** In seconds; a hidden page may have to wait a minute until its timer renews a lease. */
const LEASE = 20;
const HIDDEN_LEASE = 120;

/** Claims an ask for this tab for a while; returns whether the tab has it. */
export async function claimAsk(id: string, tabId: string): Promise<boolean> {
  const seconds = document.hidden ? HIDDEN_LEASE : LEASE;
  try {
    await sendJson("POST", `${BASE}/${encodeURIComponent(id)}/claim`, { tab_id: tabId, seconds });
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

/** Sends the result while the page goes away, when no response can be awaited. */
export function acknowledgeLast(receipt: Receipt): void {
  void fetch("/ai/tools/ack", {
    method: "POST",
    credentials: "same-origin",
    keepalive: true,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(receipt),
  }).catch(() => undefined);
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
