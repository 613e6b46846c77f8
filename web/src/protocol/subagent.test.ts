import { expect, test } from "vitest";
import type { RunEntry, RunEvent } from "@/protocol/events.gen";
import { reduceEntry, type SubAgentStream, type SubAgentStreams, streamOf, waitsForAnswer } from "@/protocol/subagent";

function entry(event: RunEvent, path = ["root", "child"]): RunEntry {
  return { ...event, number: 1, run_id: path.at(-1) ?? "", path, time: 0 };
}

const START: RunEvent = {
  type: "run-start",
  agent: "researcher",
  model: "m",
  generation: 1,
  session_id: null,
  parent_call_id: "call",
};

const USAGE = { input_tokens: 0, output_tokens: 0, cached_tokens: 0, reasoning_tokens: 0, cost: null };

function play(...events: RunEvent[]): SubAgentStreams {
  return events.map((event) => entry(event)).reduce(reduceEntry, {});
}

test("a child's text and calls become a transcript", () => {
  const streams = play(
    START,
    { type: "tool-input-start", call_id: "1", name: "find" },
    { type: "tool-input-end", call_id: "1", name: "find", args: { query: "joints" } },
    { type: "tool-progress", call_id: "1", output: "half" },
    { type: "tool-end", call_id: "1", status: "ok", result: { llm_content: "3 found" }, error: null, duration: 0.5 },
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: "There are " },
    { type: "text-delta", id: "t", delta: "three." },
    { type: "text-end", id: "t" },
    { type: "run-end", reason: "goal", result: null, usage: USAGE, error: null },
  );
  expect(streams["child"]).toEqual({
    runId: "child",
    rootRunId: "root",
    parentRunId: "root",
    isWhole: true,
    parentCallId: "call",
    agent: "researcher",
    state: "done",
    parts: [
      {
        type: "dynamic-tool",
        toolName: "find",
        toolCallId: "1",
        state: "output-available",
        input: { query: "joints" },
        output: "3 found",
        preliminary: false,
        toolMetadata: { duration: 0.5 },
      },
      { type: "text", text: "There are three.", state: "done" },
    ],
  });
});

test.each([
  ["goal", "done"],
  ["cancelled", "stopped"],
  ["interrupted", "stopped"],
  ["max-turns", "failed"],
  ["error", "failed"],
] as const)("a run that ends for %s is %s", (reason, state) => {
  const streams = play(START, { type: "run-end", reason, result: null, usage: USAGE, error: null });
  expect(streams["child"]?.state).toBe(state);
});

test("failed and declined calls keep their reason", () => {
  const streams = play(
    START,
    { type: "tool-input-end", call_id: "1", name: "rm", args: {} },
    { type: "tool-end", call_id: "1", status: "error", result: null, error: { message: "no such file" }, duration: 0 },
    { type: "tool-input-end", call_id: "2", name: "rm", args: {} },
    { type: "tool-end", call_id: "2", status: "denied", result: null, error: null, duration: 0 },
  );
  expect(streams["child"]?.parts).toMatchObject([
    { state: "output-error", errorText: "no such file" },
    { state: "output-denied" },
  ]);
});

test("events of the root run and of unknown runs change nothing", () => {
  const before: SubAgentStreams = {};
  expect(reduceEntry(before, entry(START, ["root"]))).toBe(before);
  expect(reduceEntry(before, entry({ type: "text-start", id: "t" }))).toBe(before);
});

test("a call of a child that needs an approval waits for it and goes on after it", () => {
  const ask: RunEvent = {
    type: "ask-request",
    ask_id: "ask",
    kind: "approval",
    call_id: "1",
    payload: { title: "Write a note", reason: "it writes" },
    timeout: null,
  };
  const before = play(START, { type: "tool-input-end", call_id: "1", name: "write", args: {} }, ask);
  expect(before["child"]?.parts).toMatchObject([
    { title: "Write a note", state: "approval-requested", approval: { id: "ask", requestReason: "it writes" } },
  ]);
  const after = reduceEntry(before, entry({ type: "ask-answer", ask_id: "ask", value: { approved: true } }));
  expect(after["child"]?.parts).toMatchObject([{ state: "approval-responded", approval: { approved: true } }]);
});

test("a stored sub-agent is known without its transcript", () => {
  const data = { run_id: "c", path: ["r", "c"], agent: "helper", parent_call_id: "1", state: "ended", reason: "goal" };
  expect(streamOf(data)).toMatchObject({ rootRunId: "r", agent: "helper", state: "done", isWhole: false });
  expect(streamOf("nothing")).toBeNull();
});

test("an open question is seen from every agent above it, and from no other", () => {
  const request: RunEvent = {
    type: "ask-request",
    ask_id: "a",
    kind: "approval",
    call_id: "1",
    payload: {},
    timeout: null,
  };
  const asked = [
    entry(START),
    entry(START, ["root", "sibling"]),
    entry({ type: "tool-input-end", call_id: "0", name: "inner", args: {} }),
    entry({ ...START, parent_call_id: "0" } as RunEvent, ["root", "child", "grandchild"]),
    entry(request, ["root", "child", "grandchild"]),
  ].reduce(reduceEntry, {});
  const waiting = (streams: SubAgentStreams) =>
    Object.values(streams)
      .filter((stream: SubAgentStream) => waitsForAnswer(stream, streams))
      .map((stream) => stream.runId);
  expect(waiting(asked)).toEqual(["child", "grandchild"]);
  const answer = entry({ type: "ask-answer", ask_id: "a", value: { approved: true } }, ["root", "child", "grandchild"]);
  expect(waiting(reduceEntry(asked, answer))).toEqual([]);
});
