/** The address of the page: a chat, a panel of the control room, or a shared chat. */

import { useMemo, useSyncExternalStore } from "react";

export type Route =
  | { kind: "chat"; sessionId: string | null; messageId: string | null }
  | { kind: "room"; panel: string; argument: string | null }
  | { kind: "shared"; token: string };

export function readRoute(hash: string): Route {
  const [place = "", first = "", second = ""] = hash.replace(/^#\/?/, "").split("/").map(decode);
  if (place === "room") return { kind: "room", panel: first, argument: second || null };
  if (place === "shared" && first !== "") return { kind: "shared", token: first };
  const isChat = place === "s" && first !== "";
  return { kind: "chat", sessionId: isChat ? first : null, messageId: isChat && second !== "" ? second : null };
}

export function addressOf(route: Route): string {
  switch (route.kind) {
    case "chat":
      return address("s", route.sessionId, route.messageId);
    case "room":
      return address("room", route.panel, route.argument);
    case "shared":
      return address("shared", route.token, null);
  }
}

function address(place: string, first: string | null, second: string | null): string {
  if (first === null || first === "") return place === "room" ? "#/room" : "#/";
  return `#/${place}/${encodeURIComponent(first)}${second === null ? "" : `/${encodeURIComponent(second)}`}`;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function navigate(route: Route, how: "push" | "replace" = "push"): void {
  if (how === "replace") history.replaceState(null, "", addressOf(route));
  else history.pushState(null, "", addressOf(route));
  dispatchEvent(new HashChangeEvent("hashchange"));
}

/** Opens a chat, at one of its messages if it is named; null for a new one. */
export function openChat(sessionId: string | null, messageId: string | null = null): void {
  navigate({ kind: "chat", sessionId, messageId });
}

export function openRoom(panel: string, argument: string | null = null): void {
  navigate({ kind: "room", panel, argument });
}

function subscribe(listener: () => void): () => void {
  addEventListener("hashchange", listener);
  addEventListener("popstate", listener);
  return () => {
    removeEventListener("hashchange", listener);
    removeEventListener("popstate", listener);
  };
}

export function useRoute(): Route {
  const hash = useSyncExternalStore(subscribe, () => location.hash);
  return useMemo(() => readRoute(hash), [hash]);
}
