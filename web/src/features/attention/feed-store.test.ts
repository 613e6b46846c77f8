import { expect, test } from "vitest";
import { type FeedChannel, type FeedMessage, type FeedParts, FeedStore } from "@/features/attention/feed-store";
import type { FeedEvent } from "@/protocol/feed";

const CHANGED: FeedEvent = { type: "session", sessionId: "s", change: "changed", parentId: null };

/** Tabs of one browser: what one posts, the others hear; one of them leads at a time. */
class Browser {
  readonly #channels: FeedChannel[] = [];
  #lock: Promise<void> = Promise.resolve();
  readonly refusal = new Error("sign in");

  tab(...connections: Array<FeedEvent[][] | Error>): { store: FeedStore; heard: FeedEvent[]; pauses: number[] } {
    const pauses: number[] = [];
    const parts: FeedParts = {
      async *read(signal) {
        const next = connections.shift();
        if (next instanceof Error) throw next;
        if (next === undefined) await new Promise((resolve) => signal.addEventListener("abort", resolve));
        yield* next ?? [];
      },
      lead: (work) => {
        const turn = this.#lock.then(work);
        this.#lock = turn.catch(() => undefined);
        return turn;
      },
      channel: this.#open(),
      pause: async (attempt) => void pauses.push(attempt),
      isRefused: (error) => error === this.refusal,
    };
    const store = new FeedStore(parts);
    const heard: FeedEvent[] = [];
    for (const type of ["reset", "session"] as const) store.on(type, (event) => heard.push(event));
    return { store, heard, pauses };
  }

  #open(): FeedChannel {
    const channel: FeedChannel = {
      onMessage: () => undefined,
      post: (message: FeedMessage) => {
        for (const other of this.#channels) if (other !== channel) other.onMessage(structuredClone(message));
      },
    };
    this.#channels.push(channel);
    return channel;
  }
}

const settled = () => new Promise((resolve) => setTimeout(resolve));

test("one tab reads the feed and all of them hear it", async () => {
  const browser = new Browser();
  const first = browser.tab([[{ type: "reset" }], [CHANGED]]);
  const second = browser.tab();
  first.store.start();
  second.store.start();
  await settled();
  expect(first.heard).toEqual([{ type: "reset" }, CHANGED]);
  expect(second.heard).toEqual(first.heard);
  expect([first.store.read().isLeader, second.store.read().isLeader]).toEqual([true, false]);
});

test("when the tab that reads is closed, the next one takes over", async () => {
  const browser = new Browser();
  const first = browser.tab();
  const second = browser.tab([[{ type: "reset" }]]);
  const close = first.store.start();
  second.store.start();
  await settled();
  expect(second.store.read().isLeader).toBe(false);
  close();
  await settled();
  expect(second.store.read().isLeader).toBe(true);
  expect(second.heard).toEqual([{ type: "reset" }]);
});

test("a connection that breaks is restored without a word, and one that cannot be is reported in all tabs", async () => {
  const browser = new Browser();
  const down = new Error("down");
  const leader = browser.tab([[CHANGED]], down, down, [[{ type: "reset" }]]);
  const other = browser.tab();
  const seen: boolean[] = [];
  other.store.subscribe(() => seen.push(other.store.read().isLost));
  leader.store.start();
  await settled();
  expect(leader.pauses).toEqual([0, 1, 2, 0]);
  expect(seen).toEqual([true, false]);
  expect(leader.heard).toEqual([CHANGED, { type: "reset" }]);
});

test("a refusal ends it: the person has to sign in first", async () => {
  const browser = new Browser();
  const { store, pauses } = browser.tab(browser.refusal);
  store.start();
  await settled();
  expect(store.read()).toEqual({ isLost: false, isLeader: false });
  expect(pauses).toEqual([]);
});

test("a listener that has left hears nothing", async () => {
  const browser = new Browser();
  const { store } = browser.tab([[CHANGED]]);
  const heard: FeedEvent[] = [];
  store.on("session", (event) => heard.push(event))();
  store.start();
  await settled();
  expect(heard).toEqual([]);
});
