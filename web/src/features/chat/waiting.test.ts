import { expect, test } from "vitest";
import { waitingAsks } from "@/features/chat/waiting";
import type { Ask } from "@/protocol/ask";
import type { ChatMessage, MessagePart } from "@/protocol/message";
import { NEW_RUN, type Run, type Step } from "@/protocol/run";

const ask = (id: string, callId: string, kind: Ask["kind"] = "approval"): Ask => ({
  id,
  runId: "r",
  kind,
  callId,
  payload: {},
});
const call = (toolCallId: string, rest: object) =>
  ({ type: "dynamic-tool", toolName: "write", toolCallId, input: {}, ...rest }) as MessagePart;
const answer = (...parts: MessagePart[]): ChatMessage => ({ id: "m", role: "assistant", parts });

test("an approval waits until its call has an answer, a question until its call has a result", () => {
  const asks = { a: ask("a", "1"), b: ask("b", "2"), q: ask("q", "3", "question"), w: ask("w", "4", "browser") };
  const message = answer(
    call("1", { state: "approval-requested", approval: { id: "a" } }),
    call("2", { state: "approval-responded", approval: { id: "b", approved: true } }),
    call("3", { state: "input-available" }),
    call("4", { state: "input-available" }),
  );
  expect(waitingAsks([message], asks, {}).map(({ id }) => id)).toEqual(["a", "q"]);
  const later = answer(call("3", { state: "output-available", output: {} }));
  expect(waitingAsks([message, later], asks, {})).toEqual([]);
});

test("an ask of a sub-agent waits until its journal has the answer or the agent has ended", () => {
  const step: Step = { id: "ask a", kind: "ask", title: "", number: 1, start: 0, end: null, part: null, detail: null };
  const run: Run = {
    ...NEW_RUN,
    runId: "child",
    path: ["r", "child"],
    parentCallId: "1",
    agent: "scribe",
    isWhole: true,
    state: "running",
    steps: [step],
  };
  const asks = { a: ask("a", "1") };
  expect(waitingAsks([], asks, { child: run }).length).toBe(1);
  expect(waitingAsks([], asks, { child: { ...run, steps: [{ ...step, end: 2 }] } })).toEqual([]);
  expect(waitingAsks([], asks, { child: { ...run, state: "stopped" } })).toEqual([]);
});
