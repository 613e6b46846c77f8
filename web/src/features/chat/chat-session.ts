/** An open conversation: send, stop, branch and resume. Free of React. */

import { AbstractChat, type ChatStatus } from "ai";
import { LiveChatState, nextFrame, type Schedule } from "@/features/chat/chat-state";
import {
  type DataChunk,
  NOTHING,
  type Outgoing,
  type SessionBackend,
  type SessionEvents,
  type SessionInfo,
  type SessionParts,
} from "@/features/chat/session-info";
import { parseAsk } from "@/protocol/ask";
import type { RunEntry } from "@/protocol/events.gen";
import { entriesOf } from "@/protocol/journal";
import type { ChatMessage, MessagePart } from "@/protocol/message";
import { foldEntry } from "@/protocol/run-fold";
import type { SessionView } from "@/protocol/session";
import { isRecord } from "@/protocol/shapes";
import type { ChatTransport } from "@/transport/chat-transport";

class SdkChat extends AbstractChat<ChatMessage> {
  /** Called when an answer begins to arrive; by then the server has stored the question. */
  onStart: () => void = () => {};

  protected override setStatus(change: { status: ChatStatus; error?: Error }): void {
    const isStart = change.status === "streaming" && this.status !== "streaming";
    super.setStatus(change);
    if (isStart) this.onStart();
  }
}

export class ChatSession {
  readonly state: LiveChatState;
  /** Added to every request: the chosen model, agent and skills. */
  requestBody: () => Record<string, unknown> = () => ({});
  readonly #chat: SdkChat;
  readonly #transport: ChatTransport;
  readonly #backend: SessionBackend;
  readonly #events: SessionEvents;
  readonly #pauses: readonly number[];
  readonly #schedule: Schedule;
  readonly #listeners = new Set<() => void>();
  #info: SessionInfo = NOTHING;
  #isNotifying = false;

  constructor(
    readonly id: string,
    parts: SessionParts,
  ) {
    this.#transport = parts.transport;
    this.#backend = parts.backend;
    this.#events = parts.events ?? {};
    this.#pauses = parts.pauses ?? [400, 1200, 3000];
    this.#schedule = parts.schedule ?? nextFrame;
    this.state = new LiveChatState([], this.#schedule);
    this.#chat = new SdkChat({
      id,
      transport: parts.transport,
      state: this.state,
      generateId: () => crypto.randomUUID(),
      onData: (part) => this.#take(part as DataChunk),
      onFinish: ({ isError, isDisconnect }) => void (isDisconnect ? this.#reconnect() : this.refresh(isError)),
    });
    this.#chat.onStart = () => void this.refresh(true);
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly info = (): SessionInfo => this.#info;

  get isBusy(): boolean {
    return this.#chat.status === "submitted" || this.#chat.status === "streaming";
  }

  get runId(): string | null {
    return this.#chat.messages.findLast((message) => message.metadata?.run_id)?.metadata?.run_id ?? null;
  }

  /** The agent that answers: the chosen one, otherwise the one that answered last. */
  get agent(): string | null {
    const last = this.#chat.messages.findLast((message) => message.metadata?.agent)?.metadata?.agent;
    return this.#info.agent ?? last ?? null;
  }

  choose(agent: string): void {
    this.#set({ agent });
  }

  /** Loads the stored messages and joins an answer in progress, if any. */
  async open(): Promise<void> {
    this.#set({ isLoading: true, loadError: null });
    try {
      const view = await this.#backend.view(this.id);
      if (view !== null) this.#show(view);
      this.#set({ isLoading: false });
      if (view?.runId) await this.#chat.resumeStream();
    } catch (error) {
      this.#set({ isLoading: false, loadError: error instanceof Error ? error : new Error(String(error)) });
    }
  }

  /** Reloads the title and the branches; with `keepsMessages`, messages that could not be sent stay in place. */
  async refresh(keepsMessages = false): Promise<void> {
    const view = await this.#backend.view(this.id).catch(() => null);
    if (view !== null && !this.isBusy && !keepsMessages) this.#show(view);
    else if (view !== null) this.#set({ title: view.title, siblings: view.siblings });
    this.#events.onChange?.();
  }

  async submit(message: Outgoing): Promise<void> {
    await this.#send(partsOf(message), this.#chat.lastMessage?.id ?? null);
  }

  /** Requests another answer next to the old one. A question that never reached the server is sent again. */
  async retry(messageId: string): Promise<void> {
    const index = this.#chat.messages.findIndex((message) => message.id === messageId);
    const target = this.#chat.messages[index];
    if (target === undefined) return;
    if (target.role === "user" && this.#info.siblings[messageId] === undefined) {
      this.#chat.messages = this.#chat.messages.slice(0, index);
      await this.#send(target.parts, this.#chat.lastMessage?.id ?? null);
      return;
    }
    this.#chat.clearError();
    const parent = target.role === "assistant" ? this.#chat.messages[index - 1] : target;
    await this.#chat.regenerate({ messageId, body: { ...this.requestBody(), parent_id: parent?.id ?? null } });
  }

  /** Sends an edited question as a new version of the old one. */
  async edit(messageId: string, message: Outgoing): Promise<void> {
    const index = this.#chat.messages.findIndex((candidate) => candidate.id === messageId);
    if (index < 0) return;
    this.#chat.messages = this.#chat.messages.slice(0, index);
    await this.#send(partsOf(message), this.#chat.lastMessage?.id ?? null);
  }

  /** Shows another branch. */
  async switchTo(messageId: string): Promise<void> {
    await this.#backend.moveHead(this.id, messageId);
    const view = await this.#backend.view(this.id);
    if (view !== null) this.#show(view);
    if (view?.runId) await this.#chat.resumeStream();
  }

  /** Cancels the run; the stream then ends by itself. */
  async stop(): Promise<void> {
    const { runId } = this;
    if (runId === null) await this.#chat.stop();
    else await this.#transport.cancel(runId);
  }

  /** Rejoins the answer in progress after the connection was lost or an ask was answered. */
  async rejoin(): Promise<void> {
    this.#chat.clearError();
    await this.#chat.resumeStream();
    if (this.#chat.status === "ready") await this.refresh();
  }

  /** Rejoins a broken stream, with a few retries: the run continues without a reader. */
  async #reconnect(): Promise<void> {
    if (this.#info.isReconnecting) return;
    this.#set({ isReconnecting: true });
    for (const pause of this.#pauses) {
      await new Promise((resolve) => setTimeout(resolve, pause));
      await this.rejoin();
      if (this.#chat.status !== "error") break;
    }
    this.#set({ isReconnecting: false });
  }

  async #send(parts: MessagePart[], parentId: string | null): Promise<void> {
    this.#chat.clearError();
    const pending = this.#chat.sendMessage({ parts }, { body: { ...this.requestBody(), parent_id: parentId } });
    this.state.publish();
    await pending;
  }

  /** Adds entries of sub-agents from the stream or a journal; those of the root run are ignored. */
  watchSubAgents(entries: readonly RunEntry[]): void {
    const ofSubAgents = entries.filter((entry) => entry.path.length > 1);
    this.#info = { ...this.#info, subAgents: ofSubAgents.reduce(foldEntry, this.#info.subAgents) };
    this.#notifyLater();
  }

  #take(part: DataChunk): void {
    if (part.type === "data-subagent-event") this.watchSubAgents(entriesOf(part.data));
    const ask = part.type === "data-ask" && isRecord(part.data) ? parseAsk(part.data) : null;
    if (ask === null) return;
    this.#set({ asks: { ...this.#info.asks, [ask.id]: ask } });
    this.#events.onAsk?.(ask);
  }

  #show(view: SessionView): void {
    this.#chat.messages = view.messages;
    this.#set({ title: view.title, siblings: view.siblings });
  }

  #set(change: Partial<SessionInfo>): void {
    this.#info = { ...this.#info, ...change };
    for (const listener of this.#listeners) listener();
  }

  /** Notifies subscribers once per frame, because sub-agents stream token by token. */
  #notifyLater(): void {
    if (this.#isNotifying) return;
    this.#isNotifying = true;
    this.#schedule(() => {
      this.#isNotifying = false;
      this.#set({});
    });
  }
}

function partsOf(message: Outgoing): MessagePart[] {
  const files = message.files ?? [];
  return message.text === "" ? files : [...files, { type: "text", text: message.text }];
}
