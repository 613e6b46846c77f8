/** An open conversation as it is read: loaded, followed while answers are written, rejoined. Free of React. */

import { NO_DEFAULTS, OptionsStore } from "@/features/chat/chat-options";
import { LiveChatState, nextFrame } from "@/features/chat/chat-state";
import { Inbox } from "@/features/chat/inbox";
import { LiveInfo } from "@/features/chat/live-info";
import { announcing, SdkChat } from "@/features/chat/sdk-chat";
import {
  type DataChunk,
  hasUnsent,
  PAGE,
  type SessionBackend,
  type SessionEvents,
  type SessionInfo,
  type SessionParts,
  withMissed,
  withSkills,
} from "@/features/chat/session-info";
import type { RunEntry } from "@/protocol/events.gen";
import { endOf } from "@/protocol/model-progress";
import type { SessionView } from "@/protocol/session";

export class ChatReader {
  readonly state: LiveChatState;
  readonly inbox: Inbox;
  /** The agent and the options of this chat. */
  readonly options: OptionsStore;
  protected readonly chat: SdkChat;
  protected readonly backend: SessionBackend;
  readonly #events: SessionEvents;
  readonly #pauses: readonly number[];
  readonly #live: LiveInfo;
  #branch = 0;
  /** How many questions were stored and answers have ended here: a reply that is older is outdated. */
  #steps = 0;
  #isSettling = false;
  #isLoadingOlder = false;

  constructor(
    readonly id: string,
    parts: SessionParts,
  ) {
    this.backend = parts.backend;
    this.#events = parts.events ?? {};
    this.#pauses = parts.pauses ?? [400, 1200, 3000];
    const schedule = parts.schedule ?? nextFrame;
    this.state = new LiveChatState([], schedule);
    this.#live = new LiveInfo(schedule);
    this.options = new OptionsStore((change) => parts.backend.changeChoice(id, change), parts.defaults ?? NO_DEFAULTS);
    this.inbox = new Inbox(id, parts.backend, (pending) => this.#live.set({ pending }));
    this.chat = new SdkChat({
      id,
      transport: announcing(parts.transport, () => this.#begin()),
      state: this.state,
      generateId: () => crypto.randomUUID(),
      onData: (part) => {
        this.#live.take(part as DataChunk, this.#events, endOf(this.chat.messages));
        if (part.type === "data-user-message" && part.id !== undefined) this.inbox.take(part.id);
      },
      onFinish: ({ isError, isDisconnect }) => {
        this.#steps++;
        if (!this.chat.wasTooLate) void (isDisconnect ? this.#reconnect() : this.settle(isError));
      },
    });
  }

  readonly subscribe = (listener: () => void): (() => void) => this.#live.subscribe(listener);

  readonly info = (): SessionInfo => this.#live.read();

  /** How often the branch was changed. */
  get branch(): number {
    return this.#branch;
  }

  get isBusy(): boolean {
    return this.chat.isBusy;
  }

  get runId(): string | null {
    return this.chat.runId;
  }

  /** Loads the stored messages and joins an answer in progress, if any. */
  async open(): Promise<void> {
    this.#live.set({ isLoading: true, loadError: null });
    try {
      const view = await this.load();
      if (view !== null) this.show(view);
      this.#live.set({ isLoading: false, isMissing: view === null });
      if (view !== null) this.#events.onOpen?.();
      if (view?.runId) await this.join();
    } catch (error) {
      this.#live.set({ isLoading: false, loadError: error instanceof Error ? error : new Error(String(error)) });
    }
  }

  /** Reloads the title and the branches; with `keepsMessages`, messages that could not be sent stay in place. */
  async refresh(keepsMessages = false): Promise<SessionView | null> {
    const view = await this.load().catch(() => null);
    if (view !== null && !this.isBusy && !keepsMessages) this.show(view);
    else if (view !== null) this.#note(view);
    this.#events.onChange?.();
    return view;
  }

  /** Shows what was changed elsewhere, and joins the run that was started there; a message that was not sent stays. */
  async sync(): Promise<void> {
    if (this.hasAnswerInProgress) return this.inbox.load();
    const view = await this.load().catch(() => null);
    if (view === null || this.hasAnswerInProgress || hasUnsent(this.chat.messages, this.info(), view)) return;
    this.chat.clearError();
    this.show(view);
    if (view.runId !== null) await this.join();
  }

  /** Loads some of the messages in front of those that are loaded. */
  async loadOlder(): Promise<void> {
    const first = this.chat.messages[0];
    if (first === undefined || this.info().older === 0 || this.#isLoadingOlder) return;
    this.#isLoadingOlder = true;
    const view = await this.backend.view(this.id, { limit: PAGE, before: first.id }).finally(() => {
      this.#isLoadingOlder = false;
    });
    const isNext = first === this.chat.messages[0] && view?.messages.at(-1)?.id === first.metadata?.parent_id;
    if (view === null || !isNext) return;
    this.chat.messages = [...view.messages, ...this.chat.messages];
    this.#live.set({ older: view.older ?? 0, siblings: { ...view.siblings, ...this.info().siblings } });
  }

  /** After an answer: shows what is stored, and joins the run that answers what was sent during it, if any. */
  async settle(isError = false): Promise<void> {
    if (this.#isSettling) return;
    this.#isSettling = true;
    const next = await this.#awaitNext(isError).finally(() => {
      this.#isSettling = false;
    });
    if (next === null) return;
    this.show(next);
    await this.join();
  }

  /** Rejoins the answer in progress after the connection was lost or an ask was answered. */
  async rejoin(): Promise<void> {
    this.chat.clearError();
    await this.chat.resumeStream();
    if (this.chat.status === "ready") await this.settle();
  }

  /** Adds entries of sub-agents from the stream or a journal; those of the root run are ignored. */
  watchSubAgents(entries: readonly RunEntry[]): void {
    this.#live.watchSubAgents(entries);
  }

  /** Whether a run answers or is about to, as far as is known; its stream may be interrupted. */
  protected get hasAnswerInProgress(): boolean {
    const { isReconnecting, pending } = this.info();
    return this.isBusy || isReconnecting || (this.#isSettling && pending.length > 0);
  }

  /** Joins the run in progress, from the beginning of its answer; one that has just ended is shown as it is stored. */
  protected async join(): Promise<void> {
    void this.inbox.load();
    await this.chat.resumeStream();
    if (this.chat.status !== "ready" || this.chat.lastRunId !== null) return;
    await this.refresh();
    if (this.info().pending.length > 0) await this.settle();
  }

  /**
   * Reads the stored chat: its newest messages, at least all since the first one that is loaded, or since this one.
   * Asks again if a question or an answer came in the meantime. Null if there is none, or if the branch was changed.
   */
  protected async load(wanted?: string): Promise<SessionView | null> {
    const branch = this.#branch;
    for (;;) {
      const since = wanted ?? this.chat.messages[0]?.id;
      const steps = this.#steps;
      const view = await this.backend.view(this.id, { limit: PAGE, since });
      if (branch !== this.#branch) return null;
      if (steps !== this.#steps) continue;
      // Older messages may have been loaded in the meantime.
      if (wanted !== undefined || since === this.chat.messages[0]?.id) return view;
    }
  }

  /** Shows another branch of the chat from now on: what was asked for before is outdated. */
  protected async moveTo(messageId: string): Promise<void> {
    await this.backend.moveHead(this.id, messageId);
    this.#branch++;
  }

  protected show(view: SessionView): void {
    this.chat.messages = view.messages;
    this.options.load(view.choice ?? {});
    const { title, siblings, older = 0, parentId = null, origin = null } = view;
    this.#live.set({ title, siblings, older, parentId, origin, isMissing: false });
  }

  /** Shows what is known of the chat while its messages are those of the stream. */
  #note({ title, siblings, messages, older = 0 }: SessionView): void {
    const shown = withSkills(withMissed(this.chat.messages, messages), messages);
    const isSameStart = shown[0]?.id === messages[0]?.id;
    this.chat.messages = shown;
    this.#live.set({ title, siblings, ...(isSameStart ? { older } : {}) });
  }

  /** The server has stored a question. */
  #begin(): void {
    this.#steps++;
    this.options.begin();
    void this.refresh(true);
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
      if (this.chat.status !== "error") break;
    }
    this.#live.set({ isReconnecting: false });
  }
}

const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
