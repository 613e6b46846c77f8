import { expect, test } from "vitest";
import { parseSchedules } from "@/protocol/schedule";

test("a schedule has its next time and what came of the last one", () => {
  const last = {
    tick_at: "2026-05-19T07:00:00Z",
    state: "failed",
    run_id: null,
    session_id: null,
    detail: "No model.",
  };
  const given = {
    id: "s",
    agent: "master",
    schedule: "0 9 * * * Europe/Berlin",
    message: "News?",
    source: "file",
    last,
  };
  const [running, paused] = parseSchedules({
    schedules: [
      { ...given, title: "News", enabled: true, next_at: "2026-05-20T07:00:00Z" },
      { ...given, enabled: false, next_at: null, last: null },
    ],
  });
  expect(running).toEqual({
    id: "s",
    agent: "master",
    schedule: "0 9 * * * Europe/Berlin",
    message: "News?",
    title: "News",
    isEnabled: true,
    isFromFile: true,
    nextAt: Date.UTC(2026, 4, 20, 7),
    last: { at: Date.UTC(2026, 4, 19, 7), state: "failed", sessionId: null, detail: "No model." },
  });
  expect(paused).toMatchObject({ isEnabled: false, nextAt: null, last: null });
});
