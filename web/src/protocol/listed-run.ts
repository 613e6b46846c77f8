/** Runs across chats: the list for operators, its filter and its totals. */

import { isRecord, type Json, list, number, optionalText, record, text, time } from "@/protocol/shapes";

export const RUN_STATES = ["running", "waiting", "queued", "ended"] as const;
export type ListedState = (typeof RUN_STATES)[number];
export const RUN_SORTS = ["time", "cost", "duration", "tokens"] as const;
export type RunSort = (typeof RUN_SORTS)[number];

export interface ListedRun {
  id: string;
  owner: string;
  agent: string;
  model: string;
  sessionId: string | null;
  messageId: string | null;
  title: string | null;
  state: ListedState;
  /** Why it has ended. */
  reason: string | null;
  /** Null if no price is known. */
  cost: number | null;
  inputTokens: number;
  outputTokens: number;
  /** Seconds, so far if it has not ended. */
  duration: number;
  createdAt: number;
}

export interface RunTotals {
  runs: number;
  cost: number;
  tokens: number;
  unpricedTokens: number;
}

export interface RunPage {
  runs: ListedRun[];
  totals: RunTotals;
  cursor: string | null;
}

export interface RunQuery {
  states: readonly ListedState[];
  reason: string | null;
  agent: string | null;
  model: string | null;
  /** A name, or `*` for all; null for one's own. */
  owner: string | null;
  /** An ISO 8601 time. */
  from: string | null;
  query: string;
  sort: RunSort;
}

/** What runs can be filtered by, and who asks. */
export interface RunChoices {
  agents: string[];
  models: string[];
  owners: string[];
  owner: string;
  seesAll: boolean;
}

function oneOf<T extends string>(value: unknown, known: readonly T[], fallback: T): T {
  return known.find((one) => one === value) ?? fallback;
}

export function optionalNumber(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

function parseRun(value: Json): ListedRun {
  const usage = record(value["usage"]);
  return {
    id: text(value["id"]),
    owner: text(value["owner"]),
    agent: text(value["agent"]),
    model: text(value["model"]),
    sessionId: optionalText(value["session_id"]),
    messageId: optionalText(value["message_id"]),
    title: optionalText(value["title"]),
    state: oneOf(value["state"], RUN_STATES, "ended"),
    reason: optionalText(value["reason"]),
    cost: optionalNumber(usage["cost"]),
    inputTokens: number(usage["input_tokens"]),
    outputTokens: number(usage["output_tokens"]),
    duration: number(value["duration"]),
    createdAt: time(value["created_at"]),
  };
}

export function parseRunPage(value: unknown): RunPage {
  const page = record(value);
  const totals = record(page["totals"]);
  return {
    runs: list(page["runs"]).filter(isRecord).map(parseRun),
    totals: {
      runs: number(totals["runs"]),
      cost: number(totals["cost"]),
      tokens: number(totals["input_tokens"]) + number(totals["output_tokens"]),
      unpricedTokens: number(totals["unpriced_tokens"]),
    },
    cursor: optionalText(page["cursor"]),
  };
}

export function parseChoices(value: unknown): RunChoices {
  const choices = record(value);
  const texts = (name: string) => list(choices[name]).map((one) => text(one));
  return {
    agents: texts("agents"),
    models: texts("models"),
    owners: texts("owners"),
    owner: text(choices["owner"]),
    seesAll: choices["sees_all"] === true,
  };
}
