/** Runs across chats, usage, and the processes of the service. */

import { parseChoices, parseRunPage, type RunChoices, type RunPage, type RunQuery } from "@/protocol/listed-run";
import {
  parseToday,
  parseUsage,
  parseWorkers,
  type Today,
  type Usage,
  type UsageBy,
  type Workers,
} from "@/protocol/operation";
import { ownerQuery } from "@/transport/admin";
import { getJson, sendJson } from "@/transport/http";

const BASE = "/api/v1";

function withQuery(path: string, values: Record<string, string | readonly string[] | null>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value === null || value === "") continue;
    for (const one of typeof value === "string" ? [value] : value) parameters.append(name, one);
  }
  return parameters.size > 0 ? `${path}?${parameters}` : path;
}

export async function listRuns(wanted: RunQuery, limit: number, cursor: string | null): Promise<RunPage> {
  const { states, query: q, ...rest } = wanted;
  return parseRunPage(
    await getJson(withQuery(`${BASE}/runs`, { ...rest, q, state: states, limit: String(limit), cursor })),
  );
}

export async function listRunChoices(owner: string | null): Promise<RunChoices> {
  return parseChoices(await getJson(withQuery(`${BASE}/runs/choices`, { owner })));
}

export async function cancelRun(id: string): Promise<void> {
  await sendJson("POST", withQuery(`${BASE}/runs/${encodeURIComponent(id)}/cancel`, ownerQuery()));
}

/** The usage of a period; dates are those of UTC, as in 2026-11-16. */
export async function readUsage(by: UsageBy, first: string, last: string, owner: string | null): Promise<Usage> {
  return parseUsage(await getJson(withQuery(`${BASE}/usage`, { by, from: first, to: last, owner })));
}

export async function readToday(owner: string | null): Promise<Today> {
  return parseToday(await getJson(withQuery(`${BASE}/usage/today`, { owner })));
}

export async function listWorkers(): Promise<Workers> {
  return parseWorkers(await getJson(`${BASE}/workers`));
}
