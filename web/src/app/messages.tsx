import { Activity } from "lucide-react";
import { memo, useState } from "react";
import { drawTool } from "@/app/drawings";
import { navigate } from "@/app/route";
import { BranchNav } from "@/features/branches/branch-nav";
import { EditField } from "@/features/chat/edit-field";
import { Failure } from "@/features/chat/failure";
import { MessageFooter } from "@/features/chat/message-footer";
import { MessageView } from "@/features/chat/message-view";
import { Outcome } from "@/features/chat/outcome";
import { Thread } from "@/features/chat/thread";
import { useChat, useChatSession, useChatState } from "@/features/chat/use-chat";
import { type ChatMessage, messageText } from "@/protocol/message";
import type { SiblingInfo } from "@/protocol/session";
import { useText } from "@/text/text";
import { IconButton } from "@/ui/button";
import { ErrorBoundary } from "@/ui/error-boundary";
import { Notice } from "@/ui/notice";
import { Spinner } from "@/ui/spinner";

/** The conversation: its messages, the answer in progress, and errors. */
export function Messages({ onInspect }: { onInspect: (runId: string) => void }) {
  const t = useText();
  const { session, siblingNav } = useChatSession();
  const { messages, isBusy } = useChatState();
  const [editing, setEditing] = useState<string | null>(null);
  const last = messages.at(-1);
  return (
    <Thread chatId={session.id} questions={messages.filter((message) => message.role === "user").length}>
      <div className="space-y-3">
        {messages.map((message) =>
          message.id === editing ? (
            <EditField
              key={message.id}
              text={messageText(message)}
              onCancel={() => setEditing(null)}
              onSend={(text) => {
                setEditing(null);
                void session.edit(message.id, { text });
              }}
            />
          ) : (
            <ErrorBoundary key={message.id} subject={message} fallback={<Notice title={t.undrawablePart} />}>
              <Entry
                message={message}
                isLive={isBusy && message === last && message.role === "assistant"}
                isDisabled={isBusy}
                siblings={siblingNav[message.id]}
                onEdit={setEditing}
                onInspect={onInspect}
              />
            </ErrorBoundary>
          ),
        )}
        <Status onRetry={() => void (last && session.retry(last.id))} />
      </div>
    </Thread>
  );
}

/** What the page waits for, or what went wrong; never an endless spinner. */
function Status({ onRetry }: { onRetry: () => void }) {
  const t = useText();
  const { session, isLoading, loadError, isReconnecting } = useChatSession();
  const { messages, status, error, isBusy } = useChatState();
  const last = messages.at(-1);
  const isSilent = last?.role !== "assistant" || last.parts.every((part) => part.type === "step-start");
  if (isLoading) return <Waiting text={t.loading} />;
  if (isBusy) return isSilent ? <Waiting text={t.waiting} /> : null;
  if (isReconnecting) return <Waiting text={t.reconnecting} />;
  if (loadError !== null) {
    const reopen = () => void session.open();
    return <Failure error={loadError} onRetry={reopen} onReconnect={reopen} />;
  }
  if (status !== "error" || error === null || last?.metadata?.error !== undefined) return null;
  return <Failure error={error} onRetry={onRetry} onReconnect={() => void session.rejoin()} />;
}

function Waiting({ text }: { text: string }) {
  return (
    <p role="status" className="flex items-center gap-2.5 text-[13.5px] text-faint">
      <Spinner /> {text}
    </p>
  );
}

interface EntryProps {
  message: ChatMessage;
  isLive: boolean;
  isDisabled: boolean;
  siblings: SiblingInfo | undefined;
  onEdit: (id: string) => void;
  onInspect: (runId: string) => void;
}

/** A message with its actions; rendered again only when it changes. */
const Entry = memo(function Entry({ message, isLive, isDisabled, siblings, onEdit, onInspect }: EntryProps) {
  const t = useText();
  const session = useChat();
  const retry = (id: string) => void session.retry(id);
  const runId = message.role === "assistant" ? message.metadata?.run_id : undefined;
  const footer = (
    <MessageFooter
      message={message}
      isDisabled={isDisabled}
      onRetry={retry}
      onEdit={onEdit}
      lead={<BranchNav siblings={siblings} isDisabled={isDisabled} onSwitch={(id) => void session.switchTo(id)} />}
    >
      {runId === undefined ? null : (
        <IconButton label={t.inspectRun} className="size-7" onClick={() => onInspect(runId)}>
          <Activity size={14} />
        </IconButton>
      )}
    </MessageFooter>
  );
  return (
    <MessageView
      message={message}
      isLive={isLive}
      drawTool={drawTool}
      onOpen={navigate}
      outcome={isLive ? null : <Outcome metadata={message.metadata} onRetry={() => retry(message.id)} />}
      footer={isLive ? null : footer}
    />
  );
});
