import { expect, test } from "vitest";
import { parseDelivery, parseInbox, takenMessage, wordsOf } from "@/protocol/inbox";
import type { MessagePart } from "@/protocol/message";

const TEXT: MessagePart = { type: "text", text: "and sing" };
const FILE: MessagePart = { type: "file", mediaType: "text/plain", filename: "song.txt", url: "data:," };

test("the inbox of a session is a list of messages and when each will be read", () => {
  const messages = [
    { id: "1", kind: "steer", parts: [TEXT], created_at: "2026-05-20T09:00:00Z" },
    { id: "2", kind: "queue", parts: [] },
    { id: "3", kind: "notice", parts: "broken" },
  ];
  expect(parseInbox({ messages })).toEqual([
    { id: "1", kind: "steer", parts: [TEXT] },
    { id: "2", kind: "queue", parts: [] },
    { id: "3", kind: "notice", parts: [] },
  ]);
  expect(parseInbox(null)).toEqual([]);
});

test("a delivery says where the message went", () => {
  expect(parseDelivery({ message_id: "m", mode: "queue", run_id: "r" })).toEqual({ id: "m", mode: "queue" });
});

test("only a message that a run took is one", () => {
  const part = { type: "data-user-message", id: "m", data: { kind: "notice", parts: [TEXT] } } as const;
  expect(takenMessage(part)).toEqual({ kind: "notice", parts: [TEXT], task: null });
  expect(takenMessage(TEXT)).toBeNull();
});

test("a notice names the background task that has ended", () => {
  const task = { type: "data-task", data: { task_id: "s", run_id: "r", agent: "scribe" } } as const;
  const part = { type: "data-user-message", id: "m", data: { kind: "notice", parts: [TEXT, task] } } as const;
  expect(takenMessage(part)?.task).toEqual({ sessionId: "s", agent: "scribe" });
});

test("the words of a message are its texts, or the names of its files", () => {
  expect(wordsOf([FILE, TEXT])).toBe("and sing");
  expect(wordsOf([FILE])).toBe("song.txt");
});
