/** What the service uses and does: usage by day, model, agent and owner, the limits of today, and processes. */

import { optionalNumber } from "@/protocol/listed-run";
import { isRecord, type Json, list, number, record, text, time } from "@/protocol/shapes";

export type UsageBy = "day" | "model" | "agent" | "owner";

export interface UsageSums {
  /** Null if no price is known. */
  cost: number | null;
  inputTokens: number;
  outputTokens: number;
  unpricedTokens: number;
  runs: number;
}

export interface UsageRow extends UsageSums {
  key: string;
}

export interface Usage {
  first: string;
  last: string;
  rows: UsageRow[];
  total: UsageSums;
}

/** A limit of today, and how much of it is spent. */
export interface DayLimit {
  scope: "service" | "owner" | "agent";
  name: string;
  cost: { spent: number; limit: number } | null;
  calls: { spent: number; limit: number } | null;
}

export interface Today {
  total: UsageSums;
  limits: DayLimit[];
}

export interface ServiceProcess {
  id: string;
  host: string;
  pid: number;
  role: string;
  engine: string;
  queues: string[];
  startedAt: number;
  seenAt: number;
  isAlive: boolean;
  runs: number;
}

export interface RunQueue {
  name: string;
  queued: number;
  working: number;
  waiting: number;
}

export interface Workers {
  /** The process that answered. */
  processId: string;
  processes: ServiceProcess[];
  queues: RunQueue[];
}

function parseSums(value: Json): UsageSums {
  const runs = number(value["runs"]);
  return {
    // Nothing costs nothing, whatever the prices.
    cost: runs === 0 ? 0 : optionalNumber(value["cost"]),
    inputTokens: number(value["input_tokens"]),
    outputTokens: number(value["output_tokens"]),
    unpricedTokens: number(value["unpriced_tokens"]),
    runs,
  };
}

export function parseUsage(value: unknown): Usage {
  const usage = record(value);
  return {
    first: text(usage["from"]),
    last: text(usage["to"]),
    rows: list(usage["rows"])
      .filter(isRecord)
      .map((row) => ({ key: text(row["key"]), ...parseSums(row) })),
    total: parseSums(record(usage["total"])),
  };
}

function parseLimit(value: Json): DayLimit {
  const limit = record(value["limit"]);
  const part = (name: "cost" | "calls") => {
    const most = optionalNumber(limit[name]);
    return most === null ? null : { spent: number(value[name]), limit: most };
  };
  const scope = text(value["scope"]);
  return {
    scope: scope === "owner" || scope === "agent" ? scope : "service",
    name: text(value["name"]),
    cost: part("cost"),
    calls: part("calls"),
  };
}

export function parseToday(value: unknown): Today {
  const today = record(value);
  return {
    total: parseSums(record(today["total"])),
    limits: list(today["limits"]).filter(isRecord).map(parseLimit),
  };
}

export function parseWorkers(value: unknown): Workers {
  const workers = record(value);
  return {
    processId: text(workers["process_id"]),
    processes: list(workers["processes"])
      .filter(isRecord)
      .map((one) => ({
        id: text(one["id"]),
        host: text(one["host"]),
        pid: number(one["pid"]),
        role: text(one["role"]),
        engine: text(one["engine"]),
        queues: list(one["queues"]).map((name) => text(name)),
        startedAt: time(one["started_at"]),
        seenAt: time(one["seen_at"]),
        isAlive: one["is_alive"] === true,
        runs: number(one["runs"]),
      })),
    queues: list(workers["queues"])
      .filter(isRecord)
      .map((one) => ({
        name: text(one["name"]),
        queued: number(one["queued"]),
        working: number(one["working"]),
        waiting: number(one["waiting"]),
      })),
  };
}
