/** The address of the page: `#/s/<session>` or nothing for a new chat. */

import { useSyncExternalStore } from "react";

export function readRoute(hash: string): string | null {
  const match = /^#\/s\/([^/?]+)$/.exec(hash);
  return match?.[1] === undefined ? null : decodeURIComponent(match[1]);
}

export function routeTo(sessionId: string | null): string {
  return sessionId === null ? "#/" : `#/s/${encodeURIComponent(sessionId)}`;
}

export function navigate(sessionId: string | null, how: "push" | "replace" = "push"): void {
  if (how === "replace") history.replaceState(null, "", routeTo(sessionId));
  else history.pushState(null, "", routeTo(sessionId));
  dispatchEvent(new HashChangeEvent("hashchange"));
}

function subscribe(listener: () => void): () => void {
  addEventListener("hashchange", listener);
  addEventListener("popstate", listener);
  return () => {
    removeEventListener("hashchange", listener);
    removeEventListener("popstate", listener);
  };
}

/** The session in the address. */
export function useRoute(): string | null {
  return useSyncExternalStore(subscribe, () => readRoute(location.hash));
}
