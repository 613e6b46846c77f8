// Runs the page of docs/client.md as a browser would. Usage: node page_client.mjs <ai package> <page module> <scenario>
// Prints one line of JSON: the messages of the chat, and how many requests they took.

import { State, until } from "./chat_state.mjs";

const [, , place, page, scenario] = process.argv;
globalThis.document = { body: { innerText: "oak and ash and oak" } };
const ai = await import(place);
let posts = 0;
const send = globalThis.fetch;
globalThis.fetch = (address, options) => {
  if (options?.method === "POST" && String(address).endsWith("/chat") && ++posts > 20) process.exit(3);
  return send(address, options);
};
const { openChat, stopAnswer } = await import(page);

class Chat extends ai.AbstractChat {
  constructor(options) {
    super({ ...options, state: new State(options.messages) });
  }
}

const open = async (change = (options) => options) => {
  const chat = new Chat(change(await openChat("s", () => chat)));
  return chat;
};

/** Lets handlers answer only when the promise is over. */
const slow = (promise) => (options) => ({
  ...options,
  onToolCall: (call) => void promise.then(() => options.onToolCall(call)),
});

const scenarios = {
  async act() {
    const chat = await open();
    await chat.sendMessage({ text: "Mark every oak, then saw" });
    const asked = () => chat.lastMessage.parts.find((part) => part.state === "approval-requested");
    await until(() => chat.status === "ready" && asked());
    await chat.addToolApprovalResponse({ id: asked().approval.id, approved: true });
    await until(() => chat.status === "ready" && chat.lastMessage.parts.at(-1).type === "text");
    return chat;
  },
  async slow() {
    let finish;
    const chat = await open(slow(new Promise((resolve) => (finish = resolve))));
    await chat.sendMessage({ text: "Mark every oak and saw" });
    const asked = () => chat.lastMessage.parts.find((part) => part.state === "approval-requested");
    await until(() => chat.status === "ready" && asked());
    await chat.addToolApprovalResponse({ id: asked().approval.id, approved: true });
    const isAskedFor = (part) => part.type === "dynamic-tool" && part.providerExecuted === false;
    await until(() => chat.status === "ready" && chat.lastMessage.parts.some(isAskedFor));
    finish();
    await until(() => chat.status === "ready" && chat.lastMessage.parts.at(-1).type === "text");
    return chat;
  },
  async stop() {
    const chat = await open();
    const sent = chat.sendMessage({ text: "Go on and on" });
    const says = (message) => message?.role === "assistant" && message.parts.some((part) => part.type === "text");
    await until(() => says(chat.lastMessage));
    await stopAnswer(chat.lastMessage);
    await sent;
    return chat;
  },
  async read() {
    return open();
  },
};

const chat = await scenarios[scenario]();
process.stdout.write(JSON.stringify({ messages: chat.messages, posts }));
process.exit(0);
