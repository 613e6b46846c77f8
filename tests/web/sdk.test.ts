/** The server's stream read by the npm package `ai` itself, without any of our client code. */

import { AbstractChat, type ChatState, type ChatStatus, DefaultChatTransport, type UIMessage } from "ai";
import { expect, test } from "vitest";
import { address, call, release, script } from "./harness";

class PlainState implements ChatState<UIMessage> {
  status: ChatStatus = "ready";
  error: Error | undefined;
  messages: UIMessage[] = [];
  pushMessage = (message: UIMessage) => {
    this.messages = [...this.messages, message];
  };
  popMessage = () => {
    this.messages = this.messages.slice(0, -1);
  };
  replaceMessage = (index: number, message: UIMessage) => {
    this.messages = this.messages.with(index, message);
  };
  snapshot = <T>(thing: T): T => structuredClone(thing);
}

class PlainChat extends AbstractChat<UIMessage> {
  constructor(id: string = crypto.randomUUID()) {
    super({ id, state: new PlainState(), transport: new DefaultChatTransport({ api: `${address.url}/api/v1/chat` }) });
  }
}

function said(chat: PlainChat): string {
  return (chat.lastMessage?.parts ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");
}

test("a plain client reads text, reasoning and a tool call", async () => {
  await script(
    { when: "sdk sum", reasoning: "Add.", tool_calls: [call("calculate", { expression: "40 + 2" })] },
    { when: "42", text: "42 it is." },
  );
  const chat = new PlainChat();
  await chat.sendMessage({ text: "sdk sum" });
  expect([chat.status, chat.error]).toEqual(["ready", undefined]);
  expect(said(chat)).toBe("42 it is.");
  const tool = chat.lastMessage?.parts.find((part) => part.type === "dynamic-tool");
  expect(tool).toMatchObject({ toolName: "calculate", state: "output-available", input: { expression: "40 + 2" } });
  expect(chat.lastMessage?.metadata).toMatchObject({ session_id: chat.id });
});

test("a plain client goes on with a conversation and asks for another answer", async () => {
  await script({ when: "sdk one", text: "First." }, { when: "sdk two", text: "Second." });
  await script({ when: "sdk two", text: "Another." });
  const chat = new PlainChat();
  await chat.sendMessage({ text: "sdk one" });
  await chat.sendMessage({ text: "sdk two" });
  expect(said(chat)).toBe("Second.");
  await chat.regenerate();
  expect([chat.error, said(chat)]).toEqual([undefined, "Another."]);
  expect(chat.messages).toHaveLength(4);
});

test("a plain client approves a call and reads on", async () => {
  await script(
    { when: "sdk note", tool_calls: [call("write_note", { name: "sdk", text: "x" })] },
    { when: "kept sdk: x", text: "Kept." },
  );
  const chat = new PlainChat();
  await chat.sendMessage({ text: "sdk note" });
  const part = chat.lastMessage?.parts.find((one) => one.type === "dynamic-tool");
  if (part?.state !== "approval-requested") throw new Error(`the call is ${part?.state}`);
  await chat.addToolApprovalResponse({ id: part.approval.id, approved: true });
  await chat.sendMessage();
  expect([chat.status, said(chat)]).toEqual(["ready", "Kept."]);
});

test("a plain client comes back to a running answer", async () => {
  await script({ when: "sdk long", steps: ["Begun", { hold: "sdk" }, " and ended."] });
  const first = new PlainChat();
  const sending = first.sendMessage({ text: "sdk long" });
  await expect.poll(() => said(first)).toBe("Begun");
  const second = new PlainChat(first.id);
  const resuming = second.resumeStream();
  await expect.poll(() => said(second)).toBe("Begun");
  await release("sdk");
  await Promise.all([sending, resuming]);
  expect([said(first), said(second)]).toEqual(["Begun and ended.", "Begun and ended."]);
});

test("a failing model is an error with words", async () => {
  await script({ when: "sdk fail", status: 401, body: { error: { message: "Incorrect API key provided." } } });
  const chat = new PlainChat();
  await chat.sendMessage({ text: "sdk fail" });
  expect(chat.status).toBe("error");
  expect(chat.error?.message).toContain("API key");
});
