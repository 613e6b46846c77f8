import { useEffect, useMemo } from "react";
import { drawWork } from "@/app/drawings";
import { openChat } from "@/app/route";
import type { Services } from "@/app/services";
import { MessageView } from "@/features/chat/message-view";
import { Thread } from "@/features/chat/thread";
import { ChatContext, useChatSession } from "@/features/chat/use-chat";
import { useSlice } from "@/features/chat/use-slice";
import { useText } from "@/text/text";
import { Button } from "@/ui/button";
import { Logo } from "@/ui/logo";
import { Notice } from "@/ui/notice";

/** A chat that was shared by link: to read, for whoever has it. */
export function SharedPage({ services, token }: { services: Services; token: string }) {
  const session = useMemo(() => services.sharedSession(token), [services, token]);
  useEffect(() => void session.open(), [session]);
  return (
    <ChatContext value={session}>
      <div className="flex h-full flex-col">
        <SharedHeader />
        <SharedMessages />
        <SharedFooter />
      </div>
    </ChatContext>
  );
}

function SharedFooter() {
  const t = useText();
  const { loadError } = useChatSession();
  return (
    <footer className="flex flex-wrap items-center justify-center gap-3 border-t border-line px-4 py-2.5 text-[13px] text-soft">
      {loadError === null ? <p>{t.sharedHint}</p> : null}
      <Button onClick={() => openChat(null)}>{t.startOwnChat}</Button>
    </footer>
  );
}

function SharedHeader() {
  const t = useText();
  const { title } = useChatSession();
  return (
    <header className="flex h-14 shrink-0 items-center gap-3 px-4">
      <Logo size={22} />
      <h1 className="min-w-0 flex-1 truncate text-[14px] font-medium text-soft">{title || t.sharedChat}</h1>
    </header>
  );
}

function SharedMessages() {
  const t = useText();
  const { isLoading, loadError } = useChatSession();
  if (loadError !== null) {
    return (
      <div className="mx-auto w-full max-w-180 flex-1 p-4">
        <Notice title={t.sharedGone} hint={t.sharedGoneHint} />
      </div>
    );
  }
  if (isLoading) return <div className="flex-1" />;
  return <SharedThread />;
}

function SharedThread() {
  const { shown, thread } = useSlice();
  return (
    <Thread {...thread}>
      <div className="space-y-3">
        {shown.map((message) => (
          <MessageView
            key={message.id}
            message={message}
            isLive={false}
            drawWork={drawWork}
            onOpen={() => undefined}
            outcome={null}
            footer={null}
          />
        ))}
      </div>
    </Thread>
  );
}
