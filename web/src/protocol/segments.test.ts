import { expect, test } from "vitest";
import type { MessagePart } from "@/protocol/message";
import { heldCalls, segmentsOf } from "@/protocol/segments";

const step = { type: "step-start" } as MessagePart;
const text = (words: string): MessagePart => ({ type: "text", text: words });
const thought = (words: string): MessagePart => ({ type: "reasoning", text: words, state: "done" });
const call = (id: string) =>
  ({ type: "dynamic-tool", toolName: "add", toolCallId: id, state: "input-available", input: {} }) as MessagePart;

function shape(parts: MessagePart[]): unknown[] {
  return segmentsOf(parts).map((segment) =>
    segment.kind === "work" ? segment.parts.map((part) => part.type) : segment.part.type,
  );
}

test("reasoning and calls between two texts are one stretch of work, over several turns", () => {
  const parts = [step, thought("hm"), call("1"), step, call("2"), text(" "), step, call("3"), text("done"), call("4")];
  expect(shape(parts)).toEqual([
    ["reasoning", "dynamic-tool", "dynamic-tool", "dynamic-tool"],
    "text",
    ["dynamic-tool"],
  ]);
  expect(segmentsOf(parts)[0]).toMatchObject({ index: 1, turns: [1, 1, 2, 3] });
});

test("data that is not shown does not interrupt the work, a message of the user does", () => {
  const child = { type: "data-subagent", id: "r", data: {} } as MessagePart;
  const message = { type: "data-user-message", id: "m", data: {} } as MessagePart;
  expect(shape([call("1"), child, call("2"), message, call("3")])).toEqual([
    ["dynamic-tool", "dynamic-tool"],
    "data-user-message",
    ["dynamic-tool"],
  ]);
  expect(shape([thought("  "), step])).toEqual([]);
});

test("a malformed part stands alone and leaves the calls around it as they are", () => {
  const wrong = [{ type: "dynamic-tool" }, { type: "tool-x" }, { type: "text", text: { a: 1 } }, { type: "reasoning" }];
  expect(shape([call("1"), ...(wrong as MessagePart[]), call("2")])).toEqual([
    ["dynamic-tool"],
    "dynamic-tool",
    "tool-x",
    "text",
    ["dynamic-tool"],
  ]);
});

test("a segment in which nothing has changed keeps its identity", () => {
  const parts = [call("1"), call("2"), text("an")];
  const before = segmentsOf(parts);
  const now = segmentsOf([...parts.slice(0, 2), text("an answer")], before);
  expect(now[0]).toBe(before[0]);
  expect(now[1]).not.toBe(before[1]);
});

test("calls of a turn are held until its approvals are answered, those of other turns are not", () => {
  const asked = { ...call("2"), state: "approval-requested", approval: { id: "a" } } as MessagePart;
  const [segment] = segmentsOf([step, call("1"), step, asked, call("3")]);
  const held = segment?.kind === "work" ? [...heldCalls(segment)] : [];
  expect(held.map((part) => "toolCallId" in part && part.toolCallId)).toEqual(["3"]);
});
