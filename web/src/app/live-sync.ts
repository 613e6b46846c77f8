/** What the feed changes: the list of chats, the open ones, their tasks, and what waits for the user. */

import type { Services } from "@/app/services";
import { gather } from "@/features/attention/gather";
import type { ChatSession } from "@/features/chat/chat-session";
import type { FeedEvent } from "@/protocol/feed";

type SessionEvent = Extract<FeedEvent, { type: "session" }>;
type RunEvent = Extract<FeedEvent, { type: "run" }>;

/** How long the feed may take to begin, in milliseconds. */
const LONGEST_START = 2000;

export class LiveSync {
  /** Called when the shown chat was deleted elsewhere. */
  onDeleted: (id: string) => void = () => {};
  #shown: ChatSession | null = null;
  #hasRead = false;
  /** The open chats that may have changed; a stream is joined for the shown one only, as a browser has few to give. */
  readonly #stale = new Set<string>();
  /** The chat whose next change belongs to an answer that this tab has read itself. */
  #ownChange: string | null = null;
  readonly #look = gather(() => void this.#syncShown());
  readonly #readSessions = gather(() => void this.services.sessions.refresh());
  readonly #readWaiting = gather(() => void this.services.waiting.refresh());

  constructor(private readonly services: Services) {}

  /** Follows the feed; returns how to stop. */
  start(): () => void {
    const { feed, waiting } = this.services;
    document.addEventListener("visibilitychange", this.#look);
    this.#hasRead = false;
    const timer = setTimeout(() => this.#readFirst(), LONGEST_START);
    const leaves = [
      feed.on("reset", () => this.#reset()),
      feed.on("session", (event) => this.#takeSession(event)),
      feed.on("run", (event) => this.#takeRun(event)),
      feed.on("ask", (event) => {
        if (event.state !== "open") waiting.forget((ask) => ask.id === event.askId);
        this.#readWaiting();
        this.#refreshTasks(event.sessionId);
        this.#refreshDeepTasks(event.sessionId);
      }),
      feed.on("extensions", () => this.#reloaded()),
      feed.start(() => this.#readFirst()),
      () => clearTimeout(timer),
      () => document.removeEventListener("visibilitychange", this.#look),
    ];
    return () => {
      for (const leave of leaves) leave();
    };
  }

  /** Calls a listener when the folders of extensions were read again; returns how to stop that. */
  readonly onReload = (listener: () => void): (() => void) => this.services.feed.on("extensions", listener);

  /** The chat on the screen; it catches up with what has happened since it was shown last. */
  show(session: ChatSession): void {
    this.#shown = session;
    this.#look();
  }

  /** Folders, agents, skills and prompts were read again. */
  #reloaded(): void {
    const { looks, agents, skills, prompts } = this.services;
    for (const one of [looks, agents, skills, prompts]) void one.refresh();
  }

  /** Reads the lists, unless the feed has had them read: it does when it begins, so that no change is missed. */
  #readFirst(): void {
    if (this.#hasRead) return;
    this.#hasRead = true;
    const { sessions, waiting, models } = this.services;
    for (const one of [sessions, waiting, models]) void one.refresh();
  }

  #reset(): void {
    if (this.#hasRead) {
      this.#readSessions();
      this.#readWaiting();
      void this.services.models.refresh();
    }
    this.#readFirst();
    for (const [id, session] of this.services.open) {
      if (!isStored(session)) continue;
      this.#stale.add(id);
      void this.services.knownTasks.get(id)?.refresh();
    }
    this.#look();
  }

  #takeSession({ sessionId, change, parentId }: SessionEvent): void {
    this.#readSessions();
    if (parentId !== null) void this.services.knownTasks.get(parentId)?.refresh();
    this.#refreshTasks(sessionId);
    if (change === "deleted") {
      const isShown = this.#shown?.id === sessionId;
      this.services.forget(sessionId);
      this.#readWaiting();
      if (isShown) this.onDeleted(sessionId);
      return;
    }
    const isOwn = this.#ownChange === sessionId;
    this.#ownChange = null;
    if (!isOwn) this.#mark(sessionId);
  }

  #takeRun({ runId, sessionId, state }: RunEvent): void {
    this.#readSessions();
    if (state === "ended") this.#readWaiting();
    if (sessionId === null) return;
    this.#refreshTasks(sessionId);
    const session = this.services.open.get(sessionId);
    if (session === undefined || state === "waiting") return;
    const isOwn = session.isBusy || session.runId === runId;
    if (isOwn) this.#ownChange = sessionId;
    else this.#mark(sessionId);
  }

  #mark(sessionId: string): void {
    if (!this.services.open.has(sessionId)) return;
    this.#stale.add(sessionId);
    this.#look();
  }

  async #syncShown(): Promise<void> {
    const session = this.#shown;
    if (document.hidden || session === null || !this.#stale.delete(session.id)) return;
    await (session.info().loadError === null ? session.sync() : session.open());
  }

  /** Reads the tasks of the chat in whose background a session works, if it does. */
  #refreshTasks(sessionId: string | null): void {
    if (sessionId === null) return;
    for (const tasks of this.services.knownTasks.values()) void tasks.hear(sessionId);
  }

  /** A session that is neither open nor a known task may work below one: what it asks is shown with that task. */
  #refreshDeepTasks(sessionId: string | null): void {
    if (sessionId === null || this.services.open.has(sessionId)) return;
    for (const tasks of this.services.knownTasks.values()) {
      if (tasks.read().tasks.length > 0 && !tasks.has(sessionId)) void tasks.refresh();
    }
  }
}

/** Whether the server may know more of the chat than this tab; one that begins just now is up to date anyway. */
function isStored(session: ChatSession): boolean {
  const { siblings, loadError, isMissing } = session.info();
  return loadError !== null || isMissing || Object.keys(siblings).length > 0;
}
