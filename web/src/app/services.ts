/** Everything that lives as long as the page, created and connected once. */

import { createContext, useContext } from "react";
import { BrowserWatch } from "@/app/browser-watch";
import { tabId } from "@/app/tab";
import { TaskStore } from "@/features/background/task-store";
import { FrontendToolExecutor } from "@/features/browser-tools/executor";
import { registerDefaultFrontendToolHandlers } from "@/features/browser-tools/handlers";
import { Ledger } from "@/features/browser-tools/ledger";
import { PanelStack } from "@/features/browser-tools/panel-stack";
import { ChatSession } from "@/features/chat/chat-session";
import { ModelStore } from "@/features/models/model-store";
import { SessionStore } from "@/features/sessions/session-store";
import { OwnerStore } from "@/features/sign-in/owner";
import {
  deleteSession,
  listModels,
  listSessions,
  listTasks,
  moveHead,
  renameSession,
  viewSession,
} from "@/transport/api";
import { type Answer, acknowledge, answerAsk, claimAsk, listAsks } from "@/transport/asks";
import { HttpChatTransport } from "@/transport/http-chat-transport";
import { listInbox, removeFromInbox, sendToRun } from "@/transport/inbox";
import { readJournal } from "@/transport/runs";

const KEPT_SESSIONS = 12;

export class Services {
  readonly tabId = tabId();
  readonly owner = new OwnerStore();
  readonly models = new ModelStore(listModels);
  readonly sessions = new SessionStore({ list: listSessions, rename: renameSession, remove: deleteSession });
  readonly stack = new PanelStack();
  readonly executor = new FrontendToolExecutor(
    this.tabId,
    {
      claim: claimAsk,
      acknowledge: (toolCallId, receipt) => acknowledge({ toolCallId, ...receipt, tabId: this.tabId }),
    },
    new Ledger(),
  );
  readonly #watch = new BrowserWatch(this.tabId, this.executor);
  readonly #transport = new HttpChatTransport(this.tabId);
  readonly #open = new Map<string, ChatSession>();
  readonly #tasks = new Map<string, TaskStore>();

  constructor() {
    registerDefaultFrontendToolHandlers(this.executor, this.stack);
  }

  /** A conversation without messages; the server learns of it with the first one. */
  draft(): ChatSession {
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
      isHidden: () => document.hidden,
    });
    this.#tasks.set(sessionId, store);
    return store;
  }

  /** Loads what the sub-agents of a run said and did. */
  async loadSubAgents(session: ChatSession, runId: string): Promise<void> {
    for await (const entries of readJournal(runId, 0, AbortSignal.timeout(30_000))) session.watchSubAgents(entries);
  }

  #make(id: string): ChatSession {
    const session: ChatSession = new ChatSession(id, {
      transport: this.#transport,
      backend: { view: viewSession, moveHead, sendToRun, listInbox, removeFromInbox },
      events: {
        onAsk: (ask) => void this.#watch.take(ask, session),
        onChange: () => {
          void this.sessions.refresh();
          void this.models.refresh();
        },
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
      this.#open.delete(id);
      this.#tasks.delete(id);
    }
  }
}

export const ServicesContext = createContext<Services | null>(null);

export function useServices(): Services {
  const services = useContext(ServicesContext);
  if (services === null) throw new Error("useServices was used outside of <ServicesContext>");
  return services;
}
