/** What was sent during an answer and is not taken yet. */

import type { SessionBackend } from "@/features/chat/session-info";
import type { Delivery, InboxMessage, MessageMode } from "@/protocol/inbox";
import type { MessagePart } from "@/protocol/message";
import { OfflineError } from "@/transport/http";

export interface PendingMessage extends InboxMessage {
  /** Whether it is still on its way to the server. */
  isOnItsWay?: boolean;
}

export class Inbox {
  #messages: readonly PendingMessage[] = [];
  #turn = 0;
  readonly #taken = new Set<string>();

  constructor(
    private readonly sessionId: string,
    private readonly backend: SessionBackend,
    private readonly onChange: (messages: readonly PendingMessage[]) => void,
  ) {}

  /** Sends a message to a run as soon as that has begun; null if it did not begin. */
  async send(run: Promise<string | null>, parts: MessagePart[], mode: MessageMode): Promise<Delivery | null> {
    const held: PendingMessage = { id: crypto.randomUUID(), kind: mode, parts, isOnItsWay: true };
    this.#set([...this.#messages, held]);
    try {
      const runId = await run;
      const delivery = runId === null ? null : await this.#deliver(runId, held);
      const sent = delivery === null ? [] : [{ id: delivery.id, kind: delivery.mode, parts }];
      this.#set(this.#messages.flatMap((one) => (one.id === held.id ? sent : [one])));
      return delivery;
    } catch (error) {
      this.#set(this.#messages.filter((one) => one.id !== held.id));
      throw error;
    }
  }

  /** Sends a message, and again under the same id if the connection was lost: the server stores it once. */
  async #deliver(runId: string, { id, parts, kind }: PendingMessage): Promise<Delivery> {
    const mode = kind === "queue" ? "queue" : "steer";
    try {
      return await this.backend.sendToRun(runId, parts, mode, id);
    } catch (error) {
      if (!(error instanceof OfflineError)) throw error;
      return this.backend.sendToRun(runId, parts, mode, id);
    }
  }

  /** Loads the messages from the server; of overlapping changes the last one wins. */
  async load(): Promise<void> {
    const turn = ++this.#turn;
    const stored = await this.backend.listInbox(this.sessionId).catch(() => null);
    if (stored === null || turn !== this.#turn) return;
    const held = this.#messages.filter((one) => one.isOnItsWay);
    this.#set([...stored.filter((one) => one.kind !== "notice"), ...held]);
  }

  /** Takes a message back, unless a run has taken it. */
  async remove(id: string): Promise<void> {
    this.#set(this.#messages.filter((one) => one.id !== id));
    await this.backend.removeFromInbox(this.sessionId, id).finally(() => this.load());
  }

  /** A run has taken the message; it may say so before the server's reply to the sender arrives. */
  take(id: string): void {
    this.#taken.add(id);
    this.#set(this.#messages);
  }

  #set(messages: readonly PendingMessage[]): void {
    this.#turn++;
    this.#messages = messages.filter((one) => !this.#taken.has(one.id));
    this.onChange(this.#messages);
  }
}
