/** Everything that lives as long as the page: made once, joined here. */

import { ChatSession } from "@/features/chat/chat-session";
import { ModelStore } from "@/features/models/model-store";
import { SessionStore } from "@/features/sessions/session-store";
import { deleteSession, listModels, listSessions, moveHead, renameSession, viewSession } from "@/transport/api";
import { HttpChatTransport } from "@/transport/http-chat-transport";

const KEPT_SESSIONS = 12;

export class Services {
  readonly tabId = crypto.randomUUID();
  readonly models = new ModelStore(listModels);
  readonly sessions = new SessionStore({ list: listSessions, rename: renameSession, remove: deleteSession });
  readonly #transport = new HttpChatTransport(this.tabId);
  readonly #open = new Map<string, ChatSession>();

  /** A conversation nobody has said anything in yet; the server learns of it with the first message. */
  draft(): ChatSession {
    return this.#make(crypto.randomUUID());
  }

  /** The conversation with this id: still at hand, or loaded. */
  session(id: string): ChatSession {
    const known = this.#open.get(id);
    if (known !== undefined) return known;
    const session = this.#make(id);
    void session.open();
    return session;
  }

  #make(id: string): ChatSession {
    const session = new ChatSession(id, {
      transport: this.#transport,
      backend: { view: viewSession, moveHead },
      events: {
        onChange: () => {
          void this.sessions.refresh();
          void this.models.refresh();
        },
      },
    });
    this.#open.set(id, session);
    this.#forgetOldest();
    return session;
  }

  /** Leaves conversations that were not looked at for long; a running one is never left. */
  #forgetOldest(): void {
    for (const [id, session] of this.#open) {
      if (this.#open.size <= KEPT_SESSIONS) return;
      if (!session.isBusy) this.#open.delete(id);
    }
  }
}
