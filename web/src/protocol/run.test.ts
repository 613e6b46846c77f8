import { expect, test } from "vitest";
import type { RunEntry, RunEvent } from "@/protocol/events.gen";
import { type Runs, storedRun, waitsForAnswer } from "@/protocol/run";
import { foldEntry } from "@/protocol/run-fold";

function entry(event: RunEvent, path: string[]): RunEntry {
  return { ...event, number: 1, run_id: path.at(-1) ?? "", path, time: 0 };
}

function start(parentCallId: string): RunEvent {
  const known = { agent: "helper", model: "m", generation: 1, session_id: null, setup: null };
  return { type: "run-start", ...known, parent_call_id: parentCallId };
}

test("a stored sub-agent is known without its transcript", () => {
  const data = { run_id: "c", path: ["r", "c"], agent: "helper", parent_call_id: "1", state: "ended", reason: "goal" };
  expect(storedRun(data)).toMatchObject({ path: ["r", "c"], agent: "helper", state: "done", isWhole: false });
  expect(storedRun("nothing")).toBeNull();
});

test("an open question is seen from every agent above it, and from no other", () => {
  const request = {
    type: "ask-request",
    ask_id: "a",
    kind: "approval",
    call_id: "1",
    payload: {},
    timeout: null,
  } as const;
  const grandchild = ["root", "child", "grandchild"];
  const asked = [
    entry(start("x"), ["root", "child"]),
    entry(start("y"), ["root", "sibling"]),
    entry({ type: "tool-input-end", call_id: "0", name: "inner", args: {} }, ["root", "child"]),
    entry(start("0"), grandchild),
    entry({ type: "tool-input-end", call_id: "1", name: "write", args: {} }, grandchild),
    entry(request, grandchild),
  ].reduce(foldEntry, {});
  const waiting = (runs: Runs) =>
    Object.values(runs)
      .filter((run) => waitsForAnswer(run, runs))
      .map((run) => run.runId);
  expect(waiting(asked)).toEqual(["child", "grandchild"]);
  const answer = entry({ type: "ask-answer", ask_id: "a", value: { approved: true } }, grandchild);
  expect(waiting(foldEntry(asked, answer))).toEqual([]);
});
