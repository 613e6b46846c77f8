import { expect, test } from "vitest";
import { EVERYTHING, MOST_EXPENSIVE_TODAY, queryOf, readFilter, writeFilter } from "@/features/runs/filter";

test("a filter survives the address", () => {
  const filter = { ...EVERYTHING, ...MOST_EXPENSIVE_TODAY, query: "天气 & wind", model: "openai:gpt-4.1" };
  expect(readFilter(writeFilter(filter))).toEqual(filter);
});

test("an empty or unknown address lists everything", () => {
  expect(readFilter(null)).toEqual(EVERYTHING);
  expect(readFilter("sort=luck&period=ages&state=odd")).toEqual(EVERYTHING);
  expect(writeFilter(EVERYTHING)).toBe("");
});

test("today begins at the reader's midnight and a week has seven days", () => {
  const now = new Date(2026, 10, 16, 15, 30).getTime();
  const from = (period: "today" | "week") => new Date(queryOf({ ...EVERYTHING, period }, now).from ?? 0);
  expect(from("today")).toEqual(new Date(2026, 10, 16));
  expect(from("week")).toEqual(new Date(2026, 10, 10));
  expect(queryOf(EVERYTHING, now).from).toBeNull();
});

test("open runs are those in every state but the last", () => {
  expect(queryOf({ ...EVERYTHING, state: "open" }, 0).states).toEqual(["queued", "running", "waiting"]);
  expect(queryOf({ ...EVERYTHING, state: "waiting" }, 0).states).toEqual(["waiting"]);
});
