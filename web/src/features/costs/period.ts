/** The periods of the cost panel, in days of UTC, as the limits count them. */

import type { UsageRow } from "@/protocol/operation";

export const COST_PERIODS = ["7", "30", "90", "month"] as const;
export type CostPeriod = (typeof COST_PERIODS)[number];

const DAY = 86_400_000;

function dateOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** The first and last day of a period that ends today. */
export function daysOf(period: CostPeriod, now: number): { first: string; last: string } {
  const last = dateOf(now);
  const first = period === "month" ? `${last.slice(0, 8)}01` : dateOf(now - (Number(period) - 1) * DAY);
  return { first, last };
}

/** Every day of a period with its usage; days without any are there, too. */
export function fillDays(rows: readonly UsageRow[], first: string, last: string): UsageRow[] {
  const known = new Map(rows.map((row) => [row.key, row]));
  const filled: UsageRow[] = [];
  for (let time = Date.parse(first); time <= Date.parse(last); time += DAY) {
    const key = dateOf(time);
    const none = { key, cost: 0, inputTokens: 0, outputTokens: 0, unpricedTokens: 0, runs: 0 };
    filled.push(known.get(key) ?? none);
  }
  return filled;
}

/** A day as people write it, such as 16 Nov. */
export function writeDay(day: string, locale: string): string {
  return new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", timeZone: "UTC" }).format(Date.parse(day));
}
