/** How the tabs of a browser share the feed, and know of each other. */

import type { FeedChannel, FeedMessage, FeedParts } from "@/features/attention/feed-store";
import { ServerError } from "@/transport/http";

const VISIBLE = "dovetail.visible";
const LONGEST_PAUSE = 10_000;

/** The parts of a feed in this browser; tabs of different users do not share one. */
export function browserFeed(owner: string | null, read: FeedParts["read"]): FeedParts {
  const name = `dovetail.feed.${owner ?? ""}`;
  return {
    read,
    channel: openChannel(name),
    lead: async (work, signal, onWait) => {
      // Without locks, as on a page that is not served securely, each tab has a feed of its own.
      if (navigator.locks === undefined) return work();
      const isFree = await navigator.locks.request(name, { ifAvailable: true }, async (lock) => {
        if (lock !== null) await work();
        return lock !== null;
      });
      if (isFree) return;
      onWait();
      await navigator.locks.request(name, { signal }, work);
    },
    pause: (attempt, signal) => pause(Math.min(500 * 2 ** attempt, LONGEST_PAUSE), signal),
    isRefused: (error) => error instanceof ServerError && (error.status === 401 || error.status === 404),
  };
}

function openChannel(name: string): FeedChannel {
  const pipe = new BroadcastChannel(name);
  const channel: FeedChannel = {
    post: (message) => pipe.postMessage(message),
    onMessage: () => undefined,
  };
  pipe.onmessage = (event: MessageEvent<FeedMessage>) => channel.onMessage(event.data);
  return channel;
}

/** Waits; ends early when the network is back or the page is shown again. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      window.removeEventListener("online", end);
      document.removeEventListener("visibilitychange", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    window.addEventListener("online", end);
    document.addEventListener("visibilitychange", end);
    signal.addEventListener("abort", end, { once: true });
  });
}

/** Lets the other tabs know, as long as this one is in sight. */
export function showPresence(): void {
  let leave: (() => void) | null = null;
  const follow = () => {
    if (document.hidden) {
      leave?.();
      leave = null;
    } else if (leave === null && navigator.locks !== undefined) {
      const left = new Promise<void>((resolve) => {
        leave = resolve;
      });
      void navigator.locks.request(VISIBLE, { mode: "shared" }, () => left).catch(() => undefined);
    }
  };
  document.addEventListener("visibilitychange", follow);
  follow();
}

/** Whether no tab of the page is in sight. */
export async function isOutOfSight(): Promise<boolean> {
  if (!document.hidden) return false;
  if (navigator.locks === undefined) return true;
  const { held = [] } = await navigator.locks.query();
  return held.every((lock) => lock.name !== VISIBLE);
}
