import { expect, test } from "vitest";
import { LiveChatState } from "@/features/chat/chat-state";
import type { ChatMessage } from "@/protocol/message";

function answer(text: string): ChatMessage {
  return {
    id: "m",
    role: "assistant",
    parts: [
      { type: "reasoning", text: "because" },
      { type: "text", text },
    ],
  };
}

test("many changes before a frame are published once", () => {
  const frames: Array<() => void> = [];
  const state = new LiveChatState([], (publish) => frames.push(publish));
  let calls = 0;
  state.subscribe(() => calls++);
  state.pushMessage(answer("a"));
  state.replaceMessage(0, answer("ab"));
  state.status = "streaming";
  expect([calls, frames.length, state.read().messages.length]).toEqual([0, 1, 0]);
  frames[0]?.();
  expect(calls).toBe(1);
  expect(state.read().status).toBe("streaming");
});

test("a published message does not change when the live one does", () => {
  const state = new LiveChatState([], (publish) => publish());
  const live = answer("a");
  state.pushMessage(live);
  const [shown] = state.read().messages;
  (live.parts[1] as { text: string }).text = "ab";
  state.replaceMessage(0, live);
  expect(shown?.parts[1]).toEqual({ type: "text", text: "a" });
  expect(state.read().messages[0]?.parts[1]).toEqual({ type: "text", text: "ab" });
});

test("unchanged messages and parts keep their identity", () => {
  const state = new LiveChatState([{ id: "u", role: "user", parts: [] }], (publish) => publish());
  const live = answer("a");
  state.pushMessage(live);
  const before = state.read().messages;
  (live.parts[1] as { text: string }).text = "ab";
  state.replaceMessage(1, live);
  const after = state.read().messages;
  expect(after[0]).toBe(before[0]);
  expect(after[1]).not.toBe(before[1]);
  expect(after[1]?.parts[0]).toBe(before[1]?.parts[0]);
});
