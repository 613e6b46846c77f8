/** A server and the chats with it: what a page of one's own needs besides components. */

import { Services } from "@/app/services";
import { asHandler } from "@/features/browser-tools/executor";
import type { ChatSession } from "@/features/chat/chat-session";
import { registry } from "@/features/tool-cards/cards";
import type { BrowserTool, Card, CardOptions } from "@/protocol/dovetail";
import { connectTo } from "@/transport/http";

export interface ClientOptions {
  /** The origin of the server, such as `http://127.0.0.1:8000`; by default that of the page. */
  server?: string;
  /** Sent with every request, such as `{ authorization: "Bearer …" }`. */
  headers?: Readonly<Record<string, string>>;
}

/** A page has one client. */
export class DovetailClient {
  /** What the parts use; not meant for pages. */
  readonly services: Services;

  constructor({ server = "", headers = {} }: ClientOptions = {}) {
    connectTo(server, headers);
    this.services = new Services();
    this.browserTool("open-url", () => {
      throw new Error("This page cannot show other pages.");
    });
  }

  /** The chat with this id, which is loaded and, if an answer is in progress, joined; without one a new chat. */
  chat(id?: string): ChatSession {
    return id === undefined ? this.services.draft() : this.services.session(id);
  }

  /** Carries out the calls of a tool that is declared with `"browser": True`. */
  browserTool(toolName: string, handler: BrowserTool): void {
    this.services.executor.register(toolName, asHandler(toolName, handler));
  }

  /** Draws the calls of a tool with a component of one's own. */
  card(toolName: string, card: Card, options: CardOptions = {}): void {
    // React writes the error of a card to the console.
    registry.add(toolName, { Card: card, states: options.states ?? ["done"], onError: () => {} });
  }
}
