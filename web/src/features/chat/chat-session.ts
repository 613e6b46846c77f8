/** An open conversation: send, steer, stop, branch and resume. Free of React. */

import { LiveChatState, nextFrame } from "@/features/chat/chat-state";
import { Inbox } from "@/features/chat/inbox";
import { LiveInfo } from "@/features/chat/live-info";
import { SdkChat } from "@/features/chat/sdk-chat";
import {
  type DataChunk,
  type Outgoing,
  partsOf,
  type SessionBackend,
  type SessionEvents,
  type SessionInfo,
  type SessionParts,
} from "@/features/chat/session-info";
import type { RunEntry } from "@/protocol/events.gen";
import type { MessageMode } from "@/protocol/inbox";
import type { MessagePart } from "@/protocol/message";
import type { SessionView } from "@/protocol/session";
import type { ChatTransport } from "@/transport/chat-transport";

export class ChatSession {
  readonly state: LiveChatState;
  /** Added to every request: the chosen model, agent and skills. */
  requestBody: () => Record<string, unknown> = () => ({});
  readonly inbox: Inbox;
  readonly #chat: SdkChat;
  readonly #transport: ChatTransport;
  readonly #backend: SessionBackend;
  readonly #events: SessionEvents;
  readonly #pauses: readonly number[];
  readonly #live: LiveInfo;
  #storedAgent: string | null = null;
  #isSettling = false;

  constructor(
    readonly id: string,
    parts: SessionParts,
  ) {
    this.#transport = parts.transport;
    this.#backend = parts.backend;
    this.#events = parts.events ?? {};
    this.#pauses = parts.pauses ?? [400, 1200, 3000];
    const schedule = parts.schedule ?? nextFrame;
    this.state = new LiveChatState([], schedule);
    this.#live = new LiveInfo(schedule);
    this.inbox = new Inbox(id, parts.backend, (pending) => this.#live.set({ pending }));
    this.#chat = new SdkChat({
      id,
      transport: parts.transport,
      state: this.state,
      generateId: () => crypto.randomUUID(),
      onData: (part) => {
        this.#live.take(part as DataChunk, this.#events);
        if (part.type === "data-user-message" && part.id !== undefined) this.inbox.take(part.id);
      },
      onFinish: ({ isError, isDisconnect }) => void (isDisconnect ? this.#reconnect() : this.settle(isError)),
    });
    this.#chat.onStart = () => void this.refresh(true);
  }

  readonly subscribe = (listener: () => void): (() => void) => this.#live.subscribe(listener);

  readonly info = (): SessionInfo => this.#live.read();

  get isBusy(): boolean {
    return this.#chat.isBusy;
  }

  get runId(): string | null {
    return this.#chat.runId;
  }

  /** The agent that answers: the chosen one, otherwise the one that answered last, otherwise the session's own. */
  get agent(): string | null {
    const last = this.#chat.messages.findLast((message) => message.metadata?.agent)?.metadata?.agent;
    return this.info().agent ?? last ?? this.#storedAgent;
  }

  choose(agent: string): void {
    this.#live.set({ agent });
  }

  /** Loads the stored messages and joins an answer in progress, if any. */
  async open(): Promise<void> {
    this.#live.set({ isLoading: true, loadError: null });
    try {
      const view = await this.#backend.view(this.id);
      if (view !== null) this.#show(view);
      this.#live.set({ isLoading: false });
      if (view !== null) this.#events.onOpen?.();
      if (view?.runId) await this.#join();
    } catch (error) {
      this.#live.set({ isLoading: false, loadError: error instanceof Error ? error : new Error(String(error)) });
    }
  }

  /** Reloads the title and the branches; with `keepsMessages`, messages that could not be sent stay in place. */
  async refresh(keepsMessages = false): Promise<SessionView | null> {
    const view = await this.#backend.view(this.id).catch(() => null);
    if (view !== null && !this.isBusy && !keepsMessages) this.#show(view);
    else if (view !== null) this.#live.set({ title: view.title, siblings: view.siblings });
    this.#events.onChange?.();
    return view;
  }

  /** Asks a question; during an answer the message goes into its next turn (`steer`) or is answered after it. */
  async submit(message: Outgoing, mode: MessageMode = "steer"): Promise<void> {
    const parts = partsOf(message);
    if (this.#hasAnswerInProgress) {
      const delivery = await this.inbox.send(this.#begunRun(), parts, mode);
      if (delivery !== null) return void (this.#hasAnswerInProgress || this.settle());
    }
    await this.#send(parts, this.#chat.lastMessage?.id ?? null);
  }

  /** After an answer: shows what is stored, and joins the run that answers what was sent during it, if any. */
  async settle(isError = false): Promise<void> {
    if (this.#isSettling) return;
    this.#isSettling = true;
    const next = await this.#awaitNext(isError).finally(() => {
      this.#isSettling = false;
    });
    if (next === null) return;
    this.#show(next);
    await this.#join();
  }

  /** Requests another answer next to the old one. A question that never reached the server is sent again. */
  async retry(messageId: string): Promise<void> {
    const index = this.#chat.messages.findIndex((message) => message.id === messageId);
    const target = this.#chat.messages[index];
    if (target === undefined) return;
    if (target.role === "user" && this.info().siblings[messageId] === undefined) {
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
    if (view?.runId) await this.#join();
  }

  /** Cancels the run; the stream then ends by itself. */
  async stop(): Promise<void> {
    const runId = this.#chat.lastRunId;
    if (runId === null) await this.#chat.stop();
    else await this.#transport.cancel(runId);
  }

  /** Rejoins the answer in progress after the connection was lost or an ask was answered. */
  async rejoin(): Promise<void> {
    this.#chat.clearError();
    await this.#chat.resumeStream();
    if (this.#chat.status === "ready") await this.settle();
  }

  /** Whether a run answers or is about to, as far as is known; its stream may be interrupted. */
  get #hasAnswerInProgress(): boolean {
    const { isReconnecting, pending } = this.info();
    return this.isBusy || isReconnecting || (this.#isSettling && pending.length > 0);
  }

  /** The run in progress, as soon as the server has begun it; null if it fails to. */
  #begunRun(): Promise<string | null> {
    return new Promise((resolve) => {
      const look = () => {
        if (this.#chat.lastRunId === null && this.#hasAnswerInProgress) return;
        leave();
        resolve(this.#hasAnswerInProgress ? this.#chat.lastRunId : null);
      };
      const leave = this.state.subscribe(look);
      look();
    });
  }

  /** Joins the run in progress, from the beginning of its answer; one that has just ended is shown as it is stored. */
  async #join(): Promise<void> {
    void this.inbox.load();
    await this.#chat.resumeStream();
    if (this.#chat.status !== "ready" || this.#chat.lastRunId !== null) return;
    await this.refresh();
    if (this.info().pending.length > 0) await this.settle();
  }

  /** Waits for the run that answers what is pending. */
  async #awaitNext(isError: boolean): Promise<SessionView | null> {
    const ended = this.runId;
    for (const pause of [0, ...this.#pauses, ...this.#pauses, ...this.#pauses]) {
      const view = await this.refresh(isError);
      if (this.isBusy) return null;
      if (view !== null && view.runId !== null && view.runId !== ended) return view;
      if (this.info().pending.length === 0) return null;
      await sleep(pause);
      await this.inbox.load();
    }
    return null;
  }

  /** Rejoins a broken stream, with a few retries: the run continues without a reader. */
  async #reconnect(): Promise<void> {
    if (this.info().isReconnecting) return;
    this.#live.set({ isReconnecting: true });
    for (const pause of this.#pauses) {
      await sleep(pause);
      await this.rejoin();
      if (this.#chat.status !== "error") break;
    }
    this.#live.set({ isReconnecting: false });
  }

  async #send(parts: MessagePart[], parentId: string | null): Promise<void> {
    this.#chat.clearError();
    const pending = this.#chat.sendMessage({ parts }, { body: { ...this.requestBody(), parent_id: parentId } });
    this.state.publish();
    await pending;
  }

  /** Adds entries of sub-agents from the stream or a journal; those of the root run are ignored. */
  watchSubAgents(entries: readonly RunEntry[]): void {
    this.#live.watchSubAgents(entries);
  }

  #show(view: SessionView): void {
    this.#chat.messages = view.messages;
    this.#storedAgent = view.agent ?? null;
    const { title, siblings, parentId = null, origin = null } = view;
    this.#live.set({ title, siblings, parentId, origin });
  }
}

const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
