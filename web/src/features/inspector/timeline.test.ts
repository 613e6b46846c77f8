import { expect, test } from "vitest";
import { summarize } from "@/features/inspector/summary";
import { rowsOf } from "@/features/inspector/timeline";
import type { RunEntry, RunEvent } from "@/protocol/events.gen";
import type { ModelRequest, Runs } from "@/protocol/run";
import { foldEntry } from "@/protocol/run-fold";

const USAGE = {
  input_tokens: 10,
  output_tokens: 4,
  cached_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  cost: 0.01,
};

function journal(...events: Array<[time: number, path: string[], event: RunEvent]>) {
  const entries = events.map(
    ([time, path, event], index): RunEntry => ({ ...event, number: index + 1, run_id: path.at(-1) ?? "", path, time }),
  );
  const runs: Runs = entries.reduce(foldEntry, {});
  return { rows: rowsOf(runs), summary: summarize(runs) };
}

const start = (agent: string, parentCallId: string | null = null): RunEvent => ({
  type: "run-start",
  agent,
  model: "m",
  generation: 1,
  session_id: null,
  parent_call_id: parentCallId,
  setup: null,
});

const request = (turn: number, kept: number, ...texts: string[]): RunEvent => ({
  type: "model-request",
  turn,
  model: "m",
  messages: texts.map((content) => ({ role: "user", content })),
  kept,
  tools: [],
  tool_choice: "auto",
  purpose: "answer",
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
    [103, ["r"], { type: "turn-end", turn: 1, usage: USAGE, finish_reason: "stop", model: "", timing: null }],
    [
      104,
      ["r"],
      { type: "run-end", reason: "goal", result: "Hello", usage: USAGE, error: null, limit: null, notice: null },
    ],
  );
  expect(rows.map((row) => [row.kind, row.title, row.start, row.duration, row.isFailed])).toEqual([
    ["run", "master", 0, 4, false],
    ["turn", "1", 0.5, 2.5, false],
    ["text", "", 0.5, 0.5, false],
    ["tool", "add", 1, 2, true],
  ]);
  expect(rows[1]?.detail).toEqual({ finish_reason: "stop", usage: USAGE });
  expect(rows[2]?.detail).toBe("Hello");
  expect(summary).toMatchObject({ agent: "master", turns: 1, calls: 1, reason: "goal", seconds: 4 });
});

test("a child's rows are indented, and its end is not the run's end", () => {
  const { rows, summary } = journal(
    [0, ["r"], start("master")],
    [1, ["r", "c"], start("helper")],
    [
      2,
      ["r", "c"],
      {
        type: "run-end",
        reason: "error",
        result: null,
        usage: USAGE,
        error: { message: "x" },
        limit: null,
        notice: null,
      },
    ],
  );
  expect(rows.map((row) => [row.title, row.depth, row.isFailed])).toEqual([
    ["master", 0, false],
    ["helper", 1, true],
  ]);
  expect(summary?.reason).toBeNull();
});

test("the same call id in parent and child are two calls", () => {
  const { rows } = journal(
    [0, ["r"], start("master")],
    [0, ["r"], { type: "tool-input-end", call_id: "1", name: "outer", args: {} }],
    [1, ["r", "c"], start("helper", "1")],
    [1, ["r", "c"], { type: "tool-input-end", call_id: "1", name: "inner", args: {} }],
    [2, ["r", "c"], { type: "tool-end", call_id: "1", status: "ok", result: 1, error: null, duration: 1 }],
  );
  expect(rows.filter((row) => row.kind === "tool").map((row) => [row.title, row.duration])).toEqual([
    ["outer", null],
    ["inner", 1],
  ]);
});

test("two children at the same time are each below their own call", () => {
  const call = (id: string): RunEvent => ({ type: "tool-input-end", call_id: id, name: `ask ${id}`, args: {} });
  const { rows } = journal(
    [0, ["r"], start("master")],
    [0, ["r"], call("a")],
    [0, ["r"], call("b")],
    [1, ["r", "x"], start("first", "a")],
    [1, ["r", "y"], start("second", "b")],
    [2, ["r", "x"], { type: "text-start", id: "t" }],
    [2, ["r", "y"], { type: "text-start", id: "t" }],
    [3, ["r", "x"], { type: "text-delta", id: "t", delta: "one" }],
  );
  expect(
    rows.filter((row) => row.kind !== "turn").map((row) => [row.kind, row.title || row.detail, row.depth]),
  ).toEqual([
    ["run", "master", 0],
    ["tool", "ask a", 0],
    ["run", "first", 1],
    ["text", "one", 1],
    ["tool", "ask b", 0],
    ["run", "second", 1],
    ["text", "", 1],
  ]);
});

test("a request lasts until the model begins to answer, and the next one continues it", () => {
  const { rows, summary } = journal(
    [0, ["r"], start("master")],
    [0, ["r"], request(1, 0, "one", "two")],
    [2, ["r"], { type: "text-start", id: "t" }],
    [3, ["r"], { type: "turn-end", turn: 1, usage: USAGE, finish_reason: "stop", model: "", timing: null }],
    [3, ["r"], request(2, 2, "three")],
    [4, ["r"], { type: "turn-end", turn: 2, usage: USAGE, finish_reason: "stop", model: "", timing: null }],
  );
  const requests = rows.filter((row) => row.kind === "request");
  expect(requests.map((row) => row.duration)).toEqual([2, 1]);
  const [, second] = requests.map((row) => row.detail as ModelRequest);
  expect(second?.messages.map((message) => message["content"])).toEqual(["one", "two", "three"]);
  expect(second?.kept).toBe(2);
  expect(rows.filter((row) => row.kind === "turn").map((row) => row.title)).toEqual(["1", "2"]);
  expect(summary?.usage).toMatchObject({ input_tokens: 20, cost: 0.02 });
});

test("runs have their own requests, and a summary is not continued", () => {
  const summary = { ...request(1, 0, "sum up"), purpose: "summary" } as RunEvent;
  const { rows } = journal(
    [0, ["r"], start("master")],
    [0, ["r"], request(1, 0, "a", "b")],
    [0, ["r", "c"], start("helper")],
    [0, ["r", "c"], request(1, 0, "child")],
    [0, ["r"], summary],
    [0, ["r"], request(2, 1, "c")],
  );
  const requests = rows.filter((row) => row.kind === "request").map((row) => row.detail as ModelRequest);
  const texts = requests.map(({ messages, isSummary }) => [messages.map((one) => one["content"]), isSummary]);
  expect(texts).toEqual([
    [["a", "b"], false],
    [["child"], false],
    [["sum up"], true],
    [["a", "c"], false],
  ]);
});
