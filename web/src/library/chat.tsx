import type { ReactNode } from "react";
import { drawWork } from "@/app/drawings";
import { openChat } from "@/app/route";
import { useServices } from "@/app/services";
import type { Suggestion } from "@/features/chat/completion";
import { Composer } from "@/features/chat/composer";
import { Failure } from "@/features/chat/failure";
import { MessageView } from "@/features/chat/message-view";
import { Outcome } from "@/features/chat/outcome";
import { Thread } from "@/features/chat/thread";
import { useChat, useChatSession, useChatState, useIsBusy, useModelProgress } from "@/features/chat/use-chat";
import { useSlice } from "@/features/chat/use-slice";
import type { ChatMessage } from "@/protocol/message";
import { useText } from "@/text/text";
import { Spinner } from "@/ui/spinner";

const NO_SUGGESTIONS: readonly Suggestion[] = [];
const doNothing = async () => {};

/** A message with its text, reasoning, files and tool calls. */
export function Message({ message, isLive = false }: { message: ChatMessage; isLive?: boolean }) {
  const session = useChat();
  return (
    <MessageView
      message={message}
      isLive={isLive}
      drawWork={drawWork}
      onOpen={openChat}
      outcome={isLive ? null : <Outcome metadata={message.metadata} onRetry={() => void session.retry(message.id)} />}
    />
  );
}

/** The messages of the chat, what it waits for, and what went wrong. */
export function Messages() {
  const { messages, isBusy } = useChatState();
  const last = messages.at(-1);
  const { shown, thread } = useSlice();
  return (
    <Thread {...thread}>
      <div className="space-y-3">
        {shown.map((message) => (
          <Message
            key={message.id}
            message={message}
            isLive={isBusy && message === last && message.role === "assistant"}
          />
        ))}
        <Status />
      </div>
    </Thread>
  );
}

function Status() {
  const t = useText();
  const { session, isLoading, loadError } = useChatSession();
  const { messages, error, isBusy } = useChatState();
  const last = messages.at(-1);
  const progress = useModelProgress();
  if (isLoading || progress !== null || (isBusy && last?.role !== "assistant")) {
    const waiting = progress === null ? t.waiting : t.modelProgress[progress.phase](progress.percent);
    return (
      <p role="status" className="flex items-center gap-2.5 text-[13.5px] text-faint">
        <Spinner /> {isLoading ? t.loading : waiting}
      </p>
    );
  }
  const problem = loadError ?? (isBusy || last?.metadata?.error !== undefined ? null : error);
  if (problem === null) return null;
  const retry = () => void (loadError !== null || last === undefined ? session.open() : session.retry(last.id));
  return <Failure error={problem} onRetry={retry} onReconnect={() => void session.rejoin()} />;
}

/** The field for messages, with files, stop, and messages during an answer. */
export function MessageField({ tools }: { tools?: ReactNode }) {
  const services = useServices();
  const session = useChat();
  return (
    <Composer
      drafts={services.drafts}
      draftKey={session.id}
      isBusy={useIsBusy()}
      onSend={(message, mode) => session.submit(message, mode)}
      onStop={() => void session.stop()}
      onEditLast={doNothing}
      suggestions={NO_SUGGESTIONS}
      library={services.prompts}
      options={null}
      onOptions={doNothing}
      summary=""
      tools={tools}
    />
  );
}

/** A whole chat that fills its container. */
export function Chat() {
  return (
    <div className="dovetail flex h-full min-h-0 flex-col">
      <Messages />
      <div className="mx-auto w-full max-w-180 px-4 pb-4">
        <MessageField />
      </div>
    </div>
  );
}
