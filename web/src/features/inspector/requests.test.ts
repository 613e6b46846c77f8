import { expect, test } from "vitest";
import { piecesOf, RequestBook } from "@/features/inspector/requests";
import type { ModelRequestedEvent, RunEntry } from "@/protocol/events.gen";

function entry(path: string[], change: Partial<ModelRequestedEvent>): RunEntry & ModelRequestedEvent {
  return {
    type: "model-request",
    turn: 1,
    model: "m",
    messages: [],
    kept: 0,
    tools: [],
    tool_choice: "auto",
    purpose: "answer",
    number: 1,
    run_id: "r",
    path,
    time: 0,
    ...change,
  };
}

const say = (content: string) => ({ role: "user", content });

test("runs have their own requests, and a summary stands beside them", () => {
  const book = new RequestBook();
  book.read(entry(["r"], { messages: [say("a"), say("b")] }));
  book.read(entry(["r", "c"], { messages: [say("child")] }));
  const summary = book.read(entry(["r"], { messages: [say("sum up")], purpose: "summary" }));
  const next = book.read(entry(["r"], { messages: [say("c")], kept: 1 }));
  expect([summary.messages, summary.isSummary]).toEqual([[say("sum up")], true]);
  expect(next.messages).toEqual([say("a"), say("c")]);
  expect(next.kept).toBe(1);
});

test("a message is read as its texts, its attachments and its calls", () => {
  const call = { id: "c1", type: "function", function: { name: "add", arguments: '{"a":1}' } };
  const broken = { id: "c2", type: "function", function: { name: "add", arguments: '{"a":' } };
  const picture = { type: "image_url", image_url: { url: "data:…" } };
  const content = [{ type: "text", text: "Look." }, picture];
  expect(piecesOf({ role: "assistant", content, tool_calls: [call, broken] })).toEqual([
    { kind: "text", text: "Look." },
    { kind: "data", name: "image_url", text: JSON.stringify({ image_url: picture.image_url }, null, 2) },
    { kind: "call", name: "add", id: "c1", text: '{\n  "a": 1\n}' },
    { kind: "call", name: "add", id: "c2", text: '{"a":' },
  ]);
  expect(piecesOf({ role: "assistant", content: "" })).toEqual([]);
});
