import { expect, test } from "vitest";
import { Timeline } from "@/features/inspector/timeline";
import type { RunEntry, RunEvent } from "@/protocol/events.gen";

const USAGE = { input_tokens: 10, output_tokens: 4, cached_tokens: 0, reasoning_tokens: 0, cost: 0.01 };

function journal(...events: Array<[time: number, path: string[], event: RunEvent]>): Timeline {
  const timeline = new Timeline();
  events.forEach(([time, path, event], index) => {
    const entry: RunEntry = { ...event, number: index + 1, run_id: path.at(-1) ?? "", path, time };
    timeline.add(entry);
  });
  return timeline;
}

const start = (agent: string): RunEvent => ({
  type: "run-start",
  agent,
  model: "m",
  generation: 1,
  session_id: null,
  parent_call_id: null,
});

test("a journal becomes rows with their times, joined texts and a summary", () => {
  const { rows, summary } = journal(
    [100, ["r"], start("master")],
    [100.5, ["r"], { type: "text-start", id: "t" }],
    [100.6, ["r"], { type: "text-delta", id: "t", delta: "Hel" }],
    [100.7, ["r"], { type: "text-delta", id: "t", delta: "lo" }],
    [101, ["r"], { type: "text-end", id: "t" }],
    [101, ["r"], { type: "tool-input-end", call_id: "c", name: "add", args: { a: 1 } }],
    [
      103,
      ["r"],
      { type: "tool-end", call_id: "c", status: "error", result: null, error: { message: "no" }, duration: 2 },
    ],
    [103, ["r"], { type: "turn-end", turn: 1, usage: USAGE, finish_reason: "stop" }],
    [104, ["r"], { type: "run-end", reason: "goal", result: "Hello", usage: USAGE, error: null }],
  );
  expect(rows.map((row) => [row.kind, row.title, row.start, row.duration, row.isFailed])).toEqual([
    ["run", "master", 0, 4, false],
    ["text", "", 0.5, 0.5, false],
    ["tool", "add", 1, 2, true],
    ["turn", "1", 3, 0, false],
  ]);
  expect(rows[1]?.detail).toBe("Hello");
  expect(summary).toMatchObject({ agent: "master", turns: 1, calls: 1, reason: "goal", seconds: 4, isOver: true });
});

test("a child's rows lie deeper, and its end is not the run's end", () => {
  const { rows, summary } = journal(
    [0, ["r"], start("master")],
    [1, ["r", "c"], start("helper")],
    [2, ["r", "c"], { type: "run-end", reason: "error", result: null, usage: USAGE, error: { message: "x" } }],
  );
  expect(rows.map((row) => [row.title, row.depth, row.isFailed])).toEqual([
    ["master", 0, false],
    ["helper", 1, true],
  ]);
  expect(summary.isOver).toBe(false);
});

test("the same call id in parent and child are two calls", () => {
  const { rows } = journal(
    [0, ["r"], { type: "tool-input-end", call_id: "1", name: "outer", args: {} }],
    [1, ["r", "c"], { type: "tool-input-end", call_id: "1", name: "inner", args: {} }],
    [2, ["r", "c"], { type: "tool-end", call_id: "1", status: "ok", result: 1, error: null, duration: 1 }],
  );
  expect(rows.map((row) => [row.title, row.duration])).toEqual([
    ["outer", null],
    ["inner", 1],
  ]);
});
