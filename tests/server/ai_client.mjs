// A real client of the stream: the npm package `ai`. Usage: node ai_client.mjs <ai package> <address> <scenario>
// Prints one line of JSON: the messages, status and what happened on the way.

import { State, until } from "./chat_state.mjs";

const [, , place, address, scenario] = process.argv;
const ai = await import(place);

class Chat extends ai.AbstractChat {
  constructor(options) {
    super({ state: new State(), id: "s", transport: new ai.DefaultChatTransport({ api: `${address}/api/v1/chat` }), ...options });
  }
}

const log = [];
const openParts = (chat, state) => (chat.lastMessage?.parts ?? []).filter((part) => part.state === state);

const scenarios = {
  async talk() {
    const chat = new Chat();
    await chat.sendMessage({ text: "Hi" });
    return chat;
  },
  async twice() {
    const chat = await scenarios.talk();
    await chat.sendMessage({ text: "Again" });
    await chat.regenerate();
    return chat;
  },
  async fail() {
    const chat = new Chat({ onError: (error) => log.push(error.message) });
    await chat.sendMessage({ text: "Hi" });
    return chat;
  },
  async approve() {
    const chat = new Chat({ sendAutomaticallyWhen: ai.lastAssistantMessageIsCompleteWithApprovalResponses });
    await chat.sendMessage({ text: "Hi" });
    for (const part of openParts(chat, "approval-requested")) {
      log.push(part.toolCallId);
      await chat.addToolApprovalResponse({ id: part.approval.id, approved: part.toolName !== "delete" });
    }
    await until(() => chat.status === "ready" && chat.lastMessage.parts.at(-1).type === "text");
    return chat;
  },
  async act() {
    const chat = new Chat({
      sendAutomaticallyWhen: ai.lastAssistantMessageIsCompleteWithToolCalls,
      onToolCall: ({ toolCall }) => {
        log.push(toolCall.toolName);
        chat.addToolOutput({ tool: toolCall.toolName, toolCallId: toolCall.toolCallId, output: { opened: true } });
      },
    });
    await chat.sendMessage({ text: "Hi" });
    await until(() => chat.status === "ready" && chat.lastMessage.parts.at(-1).type === "text");
    return chat;
  },
  async resume() {
    const chat = new Chat();
    const sending = chat.sendMessage({ text: "Hi" });
    await until(() => openParts(chat, "streaming").some((part) => part.text === "one "));
    await chat.stop();
    await sending;
    log.push(chat.lastMessage.parts.at(-1).text);
    const other = new Chat();
    const resuming = other.resumeStream();
    await until(() => openParts(other, "streaming").some((part) => part.text === "one "));
    process.stderr.write("resumed\n");
    await resuming;
    return other;
  },
  async cancel() {
    const chat = new Chat();
    const sending = chat.sendMessage({ text: "Hi" });
    await until(() => openParts(chat, "streaming").some((part) => part.text === "one "));
    await fetch(`${address}/api/v1/runs/${chat.lastMessage.metadata.run_id}/cancel`, { method: "POST" });
    await sending;
    return chat;
  },
};

const chat = await scenarios[scenario]();
process.stdout.write(`${JSON.stringify({ messages: chat.messages, status: chat.status, log })}\n`);
