/** An open conversation: send, steer, stop, branch, delete and choose. Free of React. */

import { ChatReader } from "@/features/chat/chat-reader";
import { type Outgoing, partsOf, type SessionParts } from "@/features/chat/session-info";
import type { MessageMode } from "@/protocol/inbox";
import type { MessagePart } from "@/protocol/message";
import type { ChoiceChange, SessionView } from "@/protocol/session";
import type { ChatTransport } from "@/transport/chat-transport";

export type RequestBody = Record<string, unknown>;

export class ChatSession extends ChatReader {
  /** Added to every request about a question, such as the agent that it names; a promise if that is not known yet. */
  requestBody: (question: readonly MessagePart[]) => RequestBody | Promise<RequestBody> = () => ({});
  readonly #transport: ChatTransport;

  constructor(id: string, parts: SessionParts) {
    super(id, parts);
    this.#transport = parts.transport;
  }

  /** Changes the agent or the options of this chat; null for the server's choice. */
  setOptions(change: ChoiceChange): Promise<void> {
    return this.options.set(change);
  }

  /** Asks a question; during an answer the message goes into its next turn (`steer`) or is answered after it. */
  async submit(message: Outgoing, mode: MessageMode = "steer"): Promise<void> {
    const parts = partsOf(message);
    if (this.hasAnswerInProgress) {
      const run = this.chat.begun(this.state, () => this.hasAnswerInProgress);
      const delivery = await this.inbox.send(run, parts, mode);
      if (delivery !== null) return void (this.hasAnswerInProgress || this.settle());
    }
    await this.#send(parts, mode);
  }

  /** Requests another answer next to the old one. A question that never reached the server is sent again. */
  async retry(messageId: string): Promise<void> {
    if (this.chat.messages[0]?.id === messageId) await this.loadOlder();
    const index = this.chat.messages.findIndex((message) => message.id === messageId);
    const target = this.chat.messages[index];
    if (target === undefined) return;
    if (target.role === "user" && this.info().siblings[messageId] === undefined) {
      this.chat.messages = this.chat.messages.slice(0, index);
      await this.#send(target.parts, "steer");
      return;
    }
    this.chat.clearError();
    const parent = target.role === "assistant" ? this.chat.messages[index - 1] : target;
    const body = { ...(await this.requestBody(parent?.parts ?? [])), parent_id: parent?.id ?? null };
    await this.chat.regenerate({ messageId, body });
    if (this.chat.wasTooLate) await this.#yield([], "queue");
  }

  /** Sends an edited question as a new version of the old one. */
  async edit(messageId: string, message: Outgoing): Promise<void> {
    const index = this.chat.messages.findIndex((candidate) => candidate.id === messageId);
    if (index < 0) return;
    const parentId = this.chat.messages[index]?.metadata?.parent_id ?? this.chat.messages[index - 1]?.id ?? null;
    this.chat.messages = this.chat.messages.slice(0, index);
    await this.#send(partsOf(message), "queue", parentId);
  }

  /** Deletes a message with all that follows it. */
  async remove(messageId: string): Promise<void> {
    await this.backend.deleteMessage(this.id, messageId);
    await this.refresh();
  }

  /** Shows another branch. */
  async switchTo(messageId: string): Promise<void> {
    await this.moveTo(messageId);
    const wide = await this.load();
    const view = wide !== null && hasMessage(wide, messageId) ? wide : await this.load(messageId);
    if (view !== null) this.show(view);
    if (view?.runId) await this.join();
  }

  /** Loads the chat back to a message; one of another branch is brought to the front. */
  async reach(messageId: string): Promise<void> {
    const view = await this.load(messageId);
    if (view !== null && hasMessage(view, messageId)) this.show(view);
    else await this.switchTo(messageId);
  }

  /** Cancels the run; the stream then ends by itself. */
  async stop(): Promise<void> {
    const runId = this.chat.lastRunId;
    if (runId === null) await this.chat.stop();
    else await this.#transport.cancel(runId);
  }

  /** Asks a question: after the stored end of the chat, which another tab may have moved, or after `parentId`. */
  async #send(parts: MessagePart[], mode: MessageMode, parentId?: string | null): Promise<void> {
    this.chat.clearError();
    const place = parentId === undefined ? {} : { parent_id: parentId };
    const named = this.requestBody(parts);
    const body = { ...this.options.addTo(named instanceof Promise ? await named : named), ...place };
    const pending = this.chat.sendMessage({ parts }, { body });
    this.state.publish();
    await pending;
    if (this.chat.wasTooLate) await this.#yield(parts, mode);
  }

  /** Another tab was faster: shows its answer, and sends what was asked here into it, or after it. */
  async #yield(parts: MessagePart[], mode: MessageMode): Promise<void> {
    const view = await this.load();
    if (view !== null) this.show(view);
    if (parts.length > 0 && view?.runId) await this.inbox.send(Promise.resolve(view.runId), parts, mode);
    else if (parts.length > 0) return this.#send(parts, mode);
    if (view?.runId) await this.join();
  }
}

const hasMessage = ({ messages }: SessionView, id: string) => messages.some((message) => message.id === id);
