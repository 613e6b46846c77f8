import { expect, test } from "vitest";
import { parseSummaries, parseView } from "@/protocol/session";

test("a session that no person has started says what did", () => {
  const tick = Date.UTC(2026, 4, 20, 9);
  const scheduled = { kind: "schedule", schedule_id: "s", tick_at: tick / 1000 };
  const origin = { kind: "schedule", scheduleId: "s", tickAt: tick };
  expect(parseSummaries({ sessions: [{ id: "1", origin: scheduled }] }).sessions[0]?.origin).toEqual(origin);
  expect(parseView({ origin: { ...scheduled, tick_at: "2026-05-20T09:00:00Z" } }).origin).toEqual(origin);
  const child = { parent_id: "p", agent: "scribe", origin: { kind: "background", agent: "scribe", run_id: "r" } };
  expect(parseView(child)).toMatchObject({
    parentId: "p",
    choice: { agent: "scribe" },
    origin: { kind: "background", agent: "scribe" },
  });
  expect(parseView({ origin: null })).toMatchObject({ parentId: null, choice: {}, origin: null });
});
