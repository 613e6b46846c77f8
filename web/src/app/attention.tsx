/** Puts what waits for a person where it is seen: the top bar, the title and icon of the tab, a notification. */

import { useEffect } from "react";
import type { Services } from "@/app/services";
import { askPlaces } from "@/features/approvals/ask-places";
import { isOutOfSight, showPresence } from "@/features/attention/browser-feed";
import { ConnectionNote } from "@/features/attention/connection-note";
import { showBadge } from "@/features/attention/page-badge";
import { WaitingButton } from "@/features/attention/waiting-button";
import type { ChatSession } from "@/features/chat/chat-session";
import type { WaitingAsk } from "@/protocol/feed";
import { type Text, useText } from "@/text/text";
import { answerAsk } from "@/transport/asks";
import { useStore } from "@/ui/store";

interface AttentionActions {
  open: (id: string) => void;
  onNew: () => void;
}

/** Follows the feed as long as the page is there. */
export function useAttention(services: Services, session: ChatSession, { open, onNew }: AttentionActions): void {
  const t = useText();
  useEffect(() => services.live.start(), [services]);
  useEffect(() => showPresence(), []);
  useEffect(() => services.live.show(session), [services, session]);
  useBadge(services, t);
  useEffect(() => {
    services.waiting.onNew = (asks) => void call(services, asks, t, open);
    services.live.onDeleted = onNew;
  }, [services, t, open, onNew]);
}

function useBadge(services: Services, t: Text): void {
  const { asks, sessionIds } = useStore(services.waiting);
  const { sessions } = useStore(services.sessions);
  const waiting = asks.length;
  const running = sessions.filter((session) => session.isRunning && !sessionIds.has(session.id)).length;
  useEffect(() => showBadge({ waiting, running }, t), [waiting, running, t]);
}

/** One tab calls for all, and only if none of them is in sight. */
async function call(
  { feed, attention }: Services,
  asks: readonly WaitingAsk[],
  t: Text,
  onOpen: (id: string) => void,
): Promise<void> {
  const choices = attention.read();
  if (!feed.read().isLeader || !(choices.notifies || choices.sounds) || !(await isOutOfSight())) return;
  const { callPerson } = await import("@/features/attention/call");
  callPerson(asks, choices, t, (ask) => goTo(ask, onOpen));
}

/** Opens the chat at the call that asks. */
function goTo(ask: WaitingAsk, onOpen: (id: string) => void): void {
  if (ask.sessionId === null) return;
  onOpen(ask.sessionId);
  askPlaces.seek(ask.id);
}

interface WaitingProps {
  services: Services;
  onOpen: (id: string) => void;
}

/** What waits over all chats, and whether the server can be reached. */
export function Waiting({ services, onOpen }: WaitingProps) {
  return (
    <>
      <ConnectionNote feed={services.feed} />
      <WaitingButton
        store={services.waiting}
        onAnswer={async (ask, isApproved) => {
          await answerAsk(ask.id, { approved: isApproved });
          services.waiting.forget((one) => one.id === ask.id);
        }}
        onOpen={(ask) => goTo(ask, onOpen)}
      />
    </>
  );
}
