import { expect, test } from "vitest";
import { daysOf, fillDays, writeDay } from "@/features/costs/period";

const NOW = Date.parse("2026-11-16T23:30:00Z");

test("a period ends today in UTC and has as many days as it says", () => {
  expect(daysOf("7", NOW)).toEqual({ first: "2026-11-10", last: "2026-11-16" });
  expect(daysOf("month", NOW)).toEqual({ first: "2026-11-01", last: "2026-11-16" });
});

test("days without runs are shown as empty", () => {
  const row = { key: "2026-02-28", cost: 1, inputTokens: 1, outputTokens: 1, unpricedTokens: 0, runs: 1 };
  const filled = fillDays([row], "2026-02-27", "2026-03-01");
  expect(filled.map(({ key, runs }) => [key, runs])).toEqual([
    ["2026-02-27", 0],
    ["2026-02-28", 1],
    ["2026-03-01", 0],
  ]);
});

test("a day is the same day in every time zone", () => {
  expect(writeDay("2026-11-16", "en")).toBe("Nov 16");
  expect(writeDay("2026-11-16", "zh-CN")).toBe("11月16日");
});
