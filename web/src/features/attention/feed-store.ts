/**
 * The feed of this browser: one connection to the server, shared by all tabs. The tab that holds a lock reads it and
 * passes the news on; when that tab is closed, the next one takes over.
 */

import type { FeedEvent, FeedType } from "@/protocol/feed";
import { Store } from "@/ui/store";

export interface FeedSnapshot {
  /** Whether the server cannot be reached at the moment. */
  readonly isLost: boolean;
  /** Whether this tab reads the feed for all. */
  readonly isLeader: boolean;
}

export interface FeedParts {
  read: (signal: AbortSignal) => AsyncGenerator<FeedEvent[]>;
  /** Runs the work while no other tab does, and ends with it; calls `onWait` first if another tab does it now. */
  lead: (work: () => Promise<void>, signal: AbortSignal, onWait: () => void) => Promise<void>;
  channel: FeedChannel;
  /** Waits before another attempt to connect, number `attempt`. */
  pause: (attempt: number, signal: AbortSignal) => Promise<void>;
  /** Whether another attempt is useless: the person has to sign in first. */
  isRefused: (error: unknown) => boolean;
}

/** What passes news to the other tabs. */
export interface FeedChannel {
  post(message: FeedMessage): void;
  onMessage: (message: FeedMessage) => void;
}

export type FeedMessage = { events: FeedEvent[] } | { isLost: boolean };

type Listener<T extends FeedType> = (event: Extract<FeedEvent, { type: T }>) => void;

export class FeedStore extends Store<FeedSnapshot> {
  readonly #parts: FeedParts;
  readonly #listeners = new Map<FeedType, Set<(event: FeedEvent) => void>>();

  constructor(parts: FeedParts) {
    super({ isLost: false, isLeader: false });
    this.#parts = parts;
    parts.channel.onMessage = (message) => {
      if ("events" in message) this.#deliver(message.events);
      else this.change({ isLost: message.isLost });
    };
  }

  /** Calls the listener with each event of a type; returns how to stop that. */
  on<T extends FeedType>(type: T, listener: Listener<T>): () => void {
    const known = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, known);
    const call = (event: FeedEvent) => listener(event as Extract<FeedEvent, { type: T }>);
    known.add(call);
    return () => known.delete(call);
  }

  /** Begins to follow; `onJoin` is called if another tab reads the feed already, so that no `reset` comes. */
  start(onJoin: () => void = () => {}): () => void {
    const stopping = new AbortController();
    void this.#parts.lead(() => this.#lead(stopping.signal), stopping.signal, onJoin).catch(() => undefined);
    return () => stopping.abort();
  }

  async #lead(signal: AbortSignal): Promise<void> {
    this.change({ isLeader: true });
    for (let failures = 0; !signal.aborted; failures++) {
      const end = await this.#readOnce(signal);
      if (end === "refused" || signal.aborted) break;
      if (end === "broken") failures = 0;
      // A connection that breaks is usually back in a moment; a second failure shows that the server is away.
      if (failures > 0) this.#setLost(true);
      await this.#parts.pause(failures, signal);
    }
    this.change({ isLeader: false });
  }

  /** Reads until the connection ends: it broke, did not even begin, or the person has to sign in first. */
  async #readOnce(signal: AbortSignal): Promise<"broken" | "failed" | "refused"> {
    let hasBegun = false;
    try {
      for await (const events of this.#parts.read(signal)) {
        hasBegun = true;
        this.#setLost(false);
        this.#deliver(events);
        if (events.length > 0) this.#parts.channel.post({ events });
      }
    } catch (error) {
      if (this.#parts.isRefused(error)) return "refused";
    }
    return hasBegun ? "broken" : "failed";
  }

  #setLost(isLost: boolean): void {
    if (this.read().isLost === isLost) return;
    this.change({ isLost });
    this.#parts.channel.post({ isLost });
  }

  #deliver(events: readonly FeedEvent[]): void {
    for (const event of events) {
      for (const listener of this.#listeners.get(event.type) ?? []) listener(event);
    }
  }
}
