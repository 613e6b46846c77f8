/** Everything that lives as long as the page, created and connected once. */

import { createContext, useContext } from "react";
import { BrowserWatch } from "@/app/browser-watch";
import { lastChoice } from "@/app/last-choice";
import { LiveSync } from "@/app/live-sync";
import { addressOf } from "@/app/route";
import { tabId } from "@/app/tab";
import { AlwaysStore } from "@/features/approvals/always-store";
import { browserFeed } from "@/features/attention/browser-feed";
import { AttentionChoiceStore } from "@/features/attention/choices";
import { FeedStore } from "@/features/attention/feed-store";
import { WaitingStore } from "@/features/attention/waiting-store";
import { TaskStore } from "@/features/background/task-store";
import { asHandler, FrontendToolExecutor } from "@/features/browser-tools/executor";
import { registerDefaultFrontendToolHandlers } from "@/features/browser-tools/handlers";
import { Ledger } from "@/features/browser-tools/ledger";
import { PanelStack } from "@/features/browser-tools/panel-stack";
import { ChatSession } from "@/features/chat/chat-session";
import { DraftDatabase } from "@/features/chat/draft-files";
import { Drafts } from "@/features/chat/drafts";
import { PromptStore } from "@/features/chat/prompt-store";
import { LookStore } from "@/features/extensions/look-store";
import { ModelStore } from "@/features/models/model-store";
import { SessionStore } from "@/features/sessions/session-store";
import { Preferences } from "@/features/settings/preferences";
import { OwnerStore } from "@/features/sign-in/owner";
import { registry } from "@/features/tool-cards/cards";
import type { TrialBackend } from "@/features/tools/trial";
import { defaultFirst } from "@/protocol/catalog";
import { adminToken } from "@/transport/admin";
import {
  changeChoice,
  changeFolder,
  deleteMessage,
  deleteSession,
  fileSession,
  listFolders,
  listModels,
  listSessions,
  listTasks,
  moveHead,
  renameSession,
  viewSession,
} from "@/transport/api";
import { type Answer, acknowledge, acknowledgeLast, answerAsk, claimAsk, listAsks, lookAtAsk } from "@/transport/asks";
import { listAgents, listExtensions, listSkills, trialOutcome, tryTool } from "@/transport/catalog";
import { listWaiting, readFeed } from "@/transport/feed";
import { canBeFramed } from "@/transport/frames";
import { HttpChatTransport } from "@/transport/http-chat-transport";
import { listInbox, removeFromInbox, sendToRun } from "@/transport/inbox";
import { listRemembered, undoRemembered } from "@/transport/policy";
import { listPrompts, renderPrompt } from "@/transport/prompts";
import { readJournal } from "@/transport/runs";
import { viewShared } from "@/transport/shares";
import { ListStore } from "@/ui/list-store";
import type { Remedy } from "@/ui/remedy";

const KEPT_SESSIONS = 12;

export class Services {
  readonly tabId = tabId();
  readonly owner = new OwnerStore();
  readonly preferences = new Preferences();
  /** Where errors lead to; with API keys only those with the admin token are operators. */
  readonly remedies = {
    addressOf: (remedy: Remedy) =>
      addressOf({ kind: "room", panel: "models", argument: remedy === "keys" ? "keys" : null }),
    needsOperator: () => this.owner.read().name !== null && adminToken() === "",
  };
  readonly models = new ModelStore(listModels);
  readonly drafts = new Drafts(localStorage, new DraftDatabase(), this.owner.read().name ?? "");
  readonly agents = new ListStore(async () => defaultFirst((await listAgents()).agents));
  readonly skills = new ListStore(async () => (await listSkills()).skills);
  readonly prompts = new PromptStore({ list: listPrompts, render: renderPrompt });
  readonly sessions = new SessionStore({
    list: listSessions,
    folders: listFolders,
    rename: renameSession,
    remove: async (id) => {
      await deleteSession(id);
      this.drafts.remove(id);
    },
    file: fileSession,
    changeFolder,
  });
  readonly stack = new PanelStack(canBeFramed, sessionStorage);
  readonly always = new AlwaysStore({ list: listRemembered, undo: undoRemembered });
  readonly feed = new FeedStore(browserFeed(this.owner.read().name, readFeed));
  readonly waiting = new WaitingStore(listWaiting);
  readonly attention = new AttentionChoiceStore();
  readonly live = new LiveSync(this);
  readonly executor = new FrontendToolExecutor(
    this.tabId,
    {
      claim: claimAsk,
      look: lookAtAsk,
      acknowledge: (toolCallId, receipt) => acknowledge({ toolCallId, ...receipt, tabId: this.tabId }),
      acknowledgeLast: (toolCallId, receipt) => acknowledgeLast({ toolCallId, ...receipt, tabId: this.tabId }),
      findHandlers: () => this.looks.refresh(),
    },
    new Ledger(),
  );
  readonly looks: LookStore = new LookStore({
    list: async () => (await listExtensions()).web,
    load: (url) => import(/* @vite-ignore */ url),
    link: linkStyle,
    apply: (cards, browserTools) => {
      registry.replace(cards);
      this.executor.adopt(new Map([...browserTools].map(([name, tool]) => [name, asHandler(name, tool)])));
    },
  });
  /** Calls of tools that are tried in this tab. */
  readonly trials: TrialBackend = {
    start: (tool, args) => tryTool(tool, args, this.tabId),
    follow: (runId, signal) => readJournal(runId, 0, signal),
    outcome: trialOutcome,
    answer: (askId, approved) => answerAsk(askId, { approved }),
    cancel: (runId) => this.#transport.cancel(runId),
    act: (call) => void this.executor.offer({ ...call, isForThisTab: true }).catch(() => undefined),
  };
  readonly #watch = new BrowserWatch(this.tabId, this.executor);
  readonly #transport = new HttpChatTransport(this.tabId);
  readonly #open = new Map<string, ChatSession>();
  readonly #tasks = new Map<string, TaskStore>();

  constructor() {
    registerDefaultFrontendToolHandlers(this.executor, this.stack);
    void this.drafts.tidy();
    addEventListener("pagehide", () => this.executor.leave());
    document.addEventListener("visibilitychange", () => this.executor.renew());
  }

  /** A conversation without messages; the server learns of it with the first one. */
  draft(): ChatSession {
    void this.looks.refresh();
    return this.#make(crypto.randomUUID());
  }

  /** The conversation with this id, loaded unless it is still open. */
  session(id: string): ChatSession {
    const known = this.#open.get(id);
    if (known !== undefined) return known;
    const session = this.#make(id);
    void session.open();
    return session;
  }

  /** The conversation that a link shows: only to read. */
  sharedSession(token: string): ChatSession {
    const refuse = () => Promise.reject(new Error("A shared chat cannot be changed."));
    return new ChatSession(`shared-${token}`, {
      transport: this.#transport,
      backend: {
        view: () => viewShared(token),
        moveHead: refuse,
        changeChoice: refuse,
        deleteMessage: refuse,
        sendToRun: refuse,
        listInbox: async () => [],
        removeFromInbox: refuse,
      },
    });
  }

  /** Answers an ask and rejoins the answer if its stream has ended. */
  async answer(session: ChatSession, askId: string, answer: Answer): Promise<void> {
    await answerAsk(askId, answer);
    if (!session.isBusy) await session.rejoin();
  }

  /** The background tasks of a conversation. */
  tasks(sessionId: string): TaskStore {
    const known = this.#tasks.get(sessionId);
    if (known !== undefined) return known;
    const store = new TaskStore({
      list: () => listTasks(sessionId),
      asks: listAsks,
      send: (runId, text) => sendToRun(runId, [{ type: "text", text }], "steer"),
      cancel: (runId) => this.#transport.cancel(runId),
    });
    this.#tasks.set(sessionId, store);
    return store;
  }

  /** The conversations that are open in this tab, shown or not. */
  get open(): ReadonlyMap<string, ChatSession> {
    return this.#open;
  }

  /** The background tasks that are known, by their conversation. */
  get knownTasks(): ReadonlyMap<string, TaskStore> {
    return this.#tasks;
  }

  /** Closes a conversation that was deleted. */
  forget(id: string): void {
    this.#open.delete(id);
    this.#tasks.delete(id);
  }

  /** Loads what the sub-agents of a run said and did. */
  async loadSubAgents(session: ChatSession, runId: string): Promise<void> {
    for await (const entries of readJournal(runId, 0, AbortSignal.timeout(30_000))) session.watchSubAgents(entries);
  }

  #make(id: string): ChatSession {
    const session: ChatSession = new ChatSession(id, {
      transport: this.#transport,
      backend: { view: viewSession, moveHead, changeChoice, deleteMessage, sendToRun, listInbox, removeFromInbox },
      defaults: lastChoice,
      events: {
        onAsk: (ask) => void this.#watch.take(ask, session),
        // The list of chats follows the feed.
        onChange: () => void this.models.refresh(),
        onOpen: () => void this.tasks(id).refresh(),
        onNotice: () => void this.tasks(id).refresh(),
      },
    });
    this.#open.set(id, session);
    this.#forgetOldest();
    return session;
  }

  /** Drops the conversations that were opened longest ago, except those with an answer in progress. */
  #forgetOldest(): void {
    for (const [id, session] of this.#open) {
      if (this.#open.size <= KEPT_SESSIONS) return;
      if (session.isBusy) continue;
      this.forget(id);
    }
  }
}

/** Adds a style sheet of an extension folder to the page; returns what removes it. */
function linkStyle(href: string): () => void {
  const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href });
  document.head.append(link);
  return () => link.remove();
}

export const ServicesContext = createContext<Services | null>(null);

export function useServices(): Services {
  const services = useContext(ServicesContext);
  if (services === null) throw new Error("useServices was used outside of <ServicesContext>");
  return services;
}
