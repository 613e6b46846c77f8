/**
 * The live state of a chat. The SDK changes message parts in place, once per token; readers get immutable copies,
 * made at most once per frame, in which everything that did not change keeps its identity.
 */

import type { ChatState, ChatStatus } from "ai";
import type { ChatMessage, MessagePart } from "@/protocol/message";

export interface ChatSnapshot {
  readonly messages: readonly ChatMessage[];
  readonly status: ChatStatus;
  readonly error: Error | null;
}

export type Schedule = (publish: () => void) => void;

/** Waits for the next frame, or a moment if the page is hidden and has no frames. */
export function nextFrame(publish: () => void): void {
  if (document.hidden) setTimeout(publish, 100);
  else requestAnimationFrame(publish);
}

export class LiveChatState implements ChatState<ChatMessage> {
  #messages: ChatMessage[];
  #status: ChatStatus = "ready";
  #error: Error | undefined;
  #published: ChatSnapshot;
  #isScheduled = false;
  readonly #listeners = new Set<() => void>();

  constructor(
    messages: ChatMessage[] = [],
    private readonly schedule: Schedule = nextFrame,
  ) {
    this.#messages = messages;
    this.#published = { messages, status: "ready", error: null };
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly read = (): ChatSnapshot => this.#published;

  get messages(): ChatMessage[] {
    return this.#messages;
  }
  set messages(messages: ChatMessage[]) {
    this.#messages = messages;
    this.publish();
  }

  get status(): ChatStatus {
    return this.#status;
  }
  set status(status: ChatStatus) {
    this.#status = status;
    this.#later();
  }

  get error(): Error | undefined {
    return this.#error;
  }
  set error(error: Error | undefined) {
    this.#error = error;
    this.#later();
  }

  readonly pushMessage = (message: ChatMessage): void => {
    this.#messages = [...this.#messages, message];
    this.#later();
  };

  readonly popMessage = (): void => {
    this.#messages = this.#messages.slice(0, -1);
    this.#later();
  };

  readonly replaceMessage = (index: number, message: ChatMessage): void => {
    this.#messages[index] = message;
    this.#later();
  };

  readonly snapshot = <T>(thing: T): T => structuredClone(thing);

  /** Publishes the current state at once. */
  publish(): void {
    const before = this.#published.messages;
    // Older messages may have been put in front.
    const shift = this.#messages.findIndex((message) => message.id === before[0]?.id);
    this.#published = {
      messages: this.#messages.map((message, index) => shareMessage(before[index - Math.max(shift, 0)], message)),
      status: this.#status,
      error: this.#error ?? null,
    };
    for (const listener of this.#listeners) listener();
  }

  #later(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.schedule(() => {
      this.#isScheduled = false;
      this.publish();
    });
  }
}

function shareMessage(before: ChatMessage | undefined, now: ChatMessage): ChatMessage {
  if (before === undefined || before.id !== now.id) return { ...now, parts: now.parts.map((part) => ({ ...part })) };
  const parts = now.parts.map((part, index) => sharePart(before.parts[index], part));
  const isSame =
    parts.length === before.parts.length &&
    parts.every((part, index) => part === before.parts[index]) &&
    before.metadata === now.metadata;
  return isSame ? before : { ...now, parts };
}

function sharePart(before: MessagePart | undefined, now: MessagePart): MessagePart {
  return before !== undefined && isShallowEqual(before, now) ? before : { ...now };
}

function isShallowEqual(one: object, other: object): boolean {
  const entries = Object.entries(one);
  if (entries.length !== Object.keys(other).length) return false;
  return entries.every(([key, value]) => Object.is(value, (other as Record<string, unknown>)[key]));
}
