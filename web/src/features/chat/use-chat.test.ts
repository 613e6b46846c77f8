import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { ChatSession } from "@/features/chat/chat-session";
import { ChatContext, useChatSession, useChatState, useChatTools } from "@/features/chat/use-chat";
import type { SessionView } from "@/protocol/session";

const VIEW: SessionView = {
  title: "A title",
  runId: null,
  messages: [
    { id: "u1", role: "user", parts: [{ type: "text", text: "add" }] },
    {
      id: "a1",
      role: "assistant",
      parts: [
        { type: "dynamic-tool", toolName: "add", toolCallId: "c1", state: "output-available", input: {}, output: 3 },
        { type: "data-subagent", data: { run_id: "k", path: ["r", "k"], agent: "helper", parent_call_id: "c1" } },
      ],
    },
  ],
  siblings: { a1: { index: 1, total: 2, previous: "a0", next: null } },
};

/** What a hook returns inside a chat. */
async function readHook<T>(hook: () => T): Promise<T> {
  const session = new ChatSession("s", {
    transport: { sendMessages: fail, reconnectToStream: fail, cancel: fail },
    backend: {
      view: async () => VIEW,
      moveHead: fail,
      changeChoice: fail,
      deleteMessage: fail,
      sendToRun: fail,
      listInbox: fail,
      removeFromInbox: fail,
    },
    schedule: (publish) => publish(),
  });
  await session.open();
  const found: T[] = [];
  const Probe = () => {
    found.push(hook());
    return null;
  };
  renderToStaticMarkup(createElement(ChatContext, { value: session }, createElement(Probe)));
  const [value] = found;
  if (value === undefined) throw new Error("the hook was not called");
  return value;
}

async function fail(): Promise<never> {
  throw new Error("nothing is sent here");
}

test("useChatState returns the messages and their status", async () => {
  const { messages, status, isBusy } = await readHook(useChatState);
  expect([messages.map((message) => message.id), status, isBusy]).toEqual([["u1", "a1"], "ready", false]);
});

test("useChatSession returns the title and which version of a message is shown", async () => {
  const { title, siblingNav } = await readHook(useChatSession);
  expect(title).toBe("A title");
  expect(siblingNav["a1"]).toEqual({ index: 1, total: 2, previous: "a0", next: null });
});

test("useChatTools returns the calls by id and the sub-agents by run", async () => {
  const { toolParts, subAgentStreams } = await readHook(useChatTools);
  expect(toolParts["c1"]).toMatchObject({ toolName: "add", output: 3 });
  expect(subAgentStreams["k"]).toMatchObject({ agent: "helper", parentCallId: "c1" });
});

test("a hook outside a chat throws", () => {
  const Probe = () => {
    useChatState();
    return null;
  };
  expect(() => renderToStaticMarkup(createElement(Probe))).toThrow("outside of <ChatContext>");
});
