import { expect, test } from "vitest";
import { requestTimes, runTimes } from "@/features/inspector/timing";
import { parseRunTimes } from "@/protocol/run";
import { formatSecond } from "@/text/format";
import { loadLanguage } from "@/text/text";

const t = await loadLanguage("en");
const zh = await loadLanguage("zh");

test("a request shows its first token, its time, what it waited for and what failed before", () => {
  const slow = { first_token: 1.21, seconds: 2.5, waited: 0.5, retries: ["503", "429"] };
  expect(requestTimes(t, slow)).toBe("first token after 1.2 s · request 2.5 s · waited 500 ms · 2 retries (503, 429)");
  expect(requestTimes(zh, slow)).toBe("首个词元 1.2 s · 请求 2.5 s · 等待 500 ms · 重试 2 次（503, 429）");
});

test("an ordinary request shows two times, one without a token its own", () => {
  expect(requestTimes(t, { first_token: 0.1, seconds: 0.2, waited: 0.01, retries: [] })).toBe(
    "first token after 100 ms · request 200 ms",
  );
  expect(requestTimes(t, { first_token: null, seconds: 0.2, waited: 0, retries: [] })).toBe("request 200 ms");
});

test("a run shows when it was created and started, and how long it was in the queue", () => {
  const times = parseRunTimes({ created_at: "2026-11-16T01:36:20.000Z", started_at: "2026-11-16T01:36:22.500Z" });
  expect(runTimes(t, times, "en")).toEqual([
    ["Created", formatSecond(times.createdAt, "en")],
    ["Started", `${formatSecond(times.startedAt ?? 0, "en")} · waited 2.5 s in the queue`],
  ]);
  expect(formatSecond(times.createdAt, "en", "UTC")).toBe("Nov 16, 2026, 01:36:20");
});

test("a run that no process has begun is in the queue", () => {
  const times = parseRunTimes({ created_at: "2026-11-16T01:36:20.000Z", started_at: null });
  expect(runTimes(t, times, "en")[1]).toEqual(["Started", "in the queue"]);
});
