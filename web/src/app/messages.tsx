import { Activity } from "lucide-react";
import { useCallback, useState } from "react";
import { drawings } from "@/app/drawings";
import { BranchNav } from "@/features/branches/branch-nav";
import { EditField } from "@/features/chat/edit-field";
import { Failure } from "@/features/chat/failure";
import { MessageFooter } from "@/features/chat/message-footer";
import { MessageView } from "@/features/chat/message-view";
import { Outcome } from "@/features/chat/outcome";
import { Thread } from "@/features/chat/thread";
import { useChatSession, useChatState } from "@/features/chat/use-chat";
import { type ChatMessage, messageText } from "@/protocol/message";
import { useText } from "@/text/text";
import { IconButton } from "@/ui/button";
import { Spinner } from "@/ui/spinner";

/** The conversation: what was said, what is being said, and what went wrong. */
export function Messages({ onInspect }: { onInspect: (runId: string) => void }) {
  const t = useText();
  const { session, isLoading, loadError } = useChatSession();
  const { messages, status, error, isBusy } = useChatState();
  const [editing, setEditing] = useState<string | null>(null);
  const last = messages.at(-1);
  const isWaiting = isBusy && (last?.role !== "assistant" || last.parts.every((part) => part.type === "step-start"));
  const retry = () => void (last && session.retry(last.id));
  const reopen = () => void session.open();
  return (
    <Thread anchor={messages.filter((message) => message.role === "user").length}>
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
            <Entry
              key={message.id}
              message={message}
              isLive={isBusy && message === last && message.role === "assistant"}
              onEdit={setEditing}
              onInspect={onInspect}
            />
          ),
        )}
        {isWaiting || isLoading ? (
          <p role="status" className="flex items-center gap-2.5 text-[13.5px] text-faint">
            <Spinner /> {isLoading ? t.loading : t.waiting}
          </p>
        ) : null}
        {status === "error" && error !== null && last?.metadata?.error === undefined ? (
          <Failure error={error} onRetry={retry} onReconnect={() => void session.rejoin()} />
        ) : null}
        {loadError ? <Failure error={loadError} onRetry={reopen} onReconnect={reopen} /> : null}
      </div>
    </Thread>
  );
}

interface EntryProps {
  message: ChatMessage;
  isLive: boolean;
  onEdit: (id: string) => void;
  onInspect: (runId: string) => void;
}

function Entry({ message, isLive, onEdit, onInspect }: EntryProps) {
  const t = useText();
  const { session, siblingNav } = useChatSession();
  const { isBusy } = useChatState();
  const retry = useCallback((id: string) => void session.retry(id), [session]);
  const runId = message.role === "assistant" ? message.metadata?.run_id : undefined;
  const footer = isLive ? null : (
    <MessageFooter
      message={message}
      isDisabled={isBusy}
      onRetry={retry}
      onEdit={onEdit}
      lead={
        <BranchNav siblings={siblingNav[message.id]} isDisabled={isBusy} onSwitch={(id) => void session.switchTo(id)} />
      }
    >
      {runId === undefined ? null : (
        <IconButton label={t.inspectRun} className="size-7" onClick={() => onInspect(runId)}>
          <Activity size={14} />
        </IconButton>
      )}
    </MessageFooter>
  );
  const outcome = isLive ? null : <Outcome metadata={message.metadata} onRetry={() => retry(message.id)} />;
  return <MessageView message={message} isLive={isLive} drawings={drawings} outcome={outcome} footer={footer} />;
}
