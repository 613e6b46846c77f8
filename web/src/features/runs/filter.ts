/** Which runs are listed, as the address of the panel says it: `sort=cost&period=today`. */

import { type ListedState, RUN_SORTS, RUN_STATES, type RunQuery, type RunSort } from "@/protocol/listed-run";

export const PERIODS = ["all", "today", "week", "month"] as const;
export type Period = (typeof PERIODS)[number];

export interface RunFilter {
  period: Period;
  /** Empty for all states; `open` for those that have not ended. */
  state: ListedState | "open" | "";
  reason: string;
  agent: string;
  model: string;
  /** Empty for one's own, `*` for all owners. */
  owner: string;
  query: string;
  sort: RunSort;
}

export const EVERYTHING: RunFilter = {
  period: "all",
  state: "",
  reason: "",
  agent: "",
  model: "",
  owner: "",
  query: "",
  sort: "time",
};
export const MOST_EXPENSIVE_TODAY: Partial<RunFilter> = { period: "today", sort: "cost" };

const STATES = [...RUN_STATES, "open", ""] as const;
const DAY = 86_400_000;
const DAYS: Partial<Record<Period, number>> = { week: 6, month: 29 };

export function readFilter(argument: string | null): RunFilter {
  const given = new URLSearchParams(argument ?? "");
  const text = (name: string) => given.get(name) ?? "";
  return {
    period: PERIODS.find((one) => one === text("period")) ?? "all",
    state: STATES.find((one) => one === text("state")) ?? "",
    reason: text("reason"),
    agent: text("agent"),
    model: text("model"),
    owner: text("owner"),
    query: text("query"),
    sort: RUN_SORTS.find((one) => one === text("sort")) ?? "time",
  };
}

/** The filter as an argument; what does not restrict is left out. */
export function writeFilter(filter: RunFilter): string {
  const entries = Object.entries(filter).filter(([name, value]) => value !== EVERYTHING[name as keyof RunFilter]);
  return new URLSearchParams(entries).toString();
}

/** The request for a filter; days begin at the reader's midnight. */
export function queryOf(filter: RunFilter, now: number): RunQuery {
  const { state } = filter;
  return {
    states: state === "open" ? ["queued", "running", "waiting"] : state === "" ? [] : [state],
    reason: filter.reason || null,
    agent: filter.agent || null,
    model: filter.model || null,
    owner: filter.owner || null,
    from: filter.period === "all" ? null : new Date(startOf(filter.period, now)).toISOString(),
    query: filter.query,
    sort: filter.sort,
  };
}

function startOf(period: Period, now: number): number {
  const midnight = new Date(now);
  midnight.setHours(0, 0, 0, 0);
  return midnight.getTime() - (DAYS[period] ?? 0) * DAY;
}
