import { useMemo, useRef, useSyncExternalStore } from "react";
import type { ChatSession } from "@/features/chat/chat-session";
import { useChat } from "@/features/chat/use-chat";
import { waitingAsks } from "@/features/chat/waiting";
import type { Ask } from "@/protocol/ask";

const NONE: readonly Ask[] = [];

/** The asks of this chat that wait for the user, oldest first; the same list until one is added or answered. */
export function useWaiting(): readonly Ask[] {
  const session = useChat();
  const known = useRef<readonly Ask[]>(NONE);
  const subscribe = useMemo(() => subscribeTo(session), [session]);
  return useSyncExternalStore(subscribe, () => {
    const { asks, subAgents } = session.info();
    const now = Object.keys(asks).length === 0 ? NONE : waitingAsks(session.state.read().messages, asks, subAgents);
    const isSame = now.length === known.current.length && now.every((ask, at) => ask === known.current[at]);
    if (!isSame) known.current = now;
    return known.current;
  });
}

function subscribeTo(session: ChatSession): (listener: () => void) => () => void {
  return (listener) => {
    const leave = [session.subscribe(listener), session.state.subscribe(listener)];
    return () => {
      for (const one of leave) one();
    };
  };
}
