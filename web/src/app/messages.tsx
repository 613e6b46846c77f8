import { Activity } from "lucide-react";
import { lazy, memo, Suspense, useEffect, useState } from "react";
import { drawWork } from "@/app/drawings";
import { openChat } from "@/app/route";
import { BranchNav } from "@/features/branches/branch-nav";
import { Failure } from "@/features/chat/failure";
import { MessageFooter } from "@/features/chat/message-footer";
import { MessageView } from "@/features/chat/message-view";
import { Outcome } from "@/features/chat/outcome";
import { Thread } from "@/features/chat/thread";
import { useChat, useChatSession, useChatState, useModelProgress } from "@/features/chat/use-chat";
import { useSlice } from "@/features/chat/use-slice";
import { type ChatMessage, messageText } from "@/protocol/message";
import type { SiblingInfo } from "@/protocol/session";
import { useText } from "@/text/text";
import { IconButton } from "@/ui/button";
import { Confirm } from "@/ui/dialog";
import { ErrorBoundary } from "@/ui/error-boundary";
import { Notice } from "@/ui/notice";
import { Spinner } from "@/ui/spinner";

const EditField = lazy(async () => ({ default: (await import("@/features/chat/edit-field")).EditField }));

interface MessagesProps {
  /** The message that is being edited. */
  editing: string | null;
  onEdit: (id: string | null) => void;
  onInspect: (runId: string) => void;
  /** The message in the address. */
  target: string | null;
}

/** The conversation: its messages, the answer in progress, and errors. */
export function Messages({ editing, onEdit, onInspect, target }: MessagesProps) {
  const t = useText();
  const { session, siblingNav } = useChatSession();
  const { messages, isBusy } = useChatState();
  const [deleting, setDeleting] = useState<string | null>(null);
  const last = messages.at(-1);
  useReachedTarget(target);
  const { shown, thread, switchTo } = useSlice(target);
  return (
    <Thread {...thread}>
      <div className="space-y-3">
        {shown.map((message) =>
          message.id === editing ? (
            <Suspense key={message.id}>
              <EditField
                message={{ text: messageText(message), files: message.parts.filter((part) => part.type === "file") }}
                onCancel={() => onEdit(null)}
                onSend={(edited) => {
                  onEdit(null);
                  void session.edit(message.id, edited);
                }}
              />
            </Suspense>
          ) : (
            <ErrorBoundary key={message.id} subject={message} fallback={<Notice title={t.undrawablePart} />}>
              <Entry
                message={message}
                isLive={isBusy && message === last && message.role === "assistant"}
                isDisabled={isBusy}
                siblings={siblingNav[message.id]}
                onEdit={onEdit}
                onDelete={setDeleting}
                onSwitch={switchTo}
                onInspect={onInspect}
              />
            </ErrorBoundary>
          ),
        )}
        {thread.hasNewer ? null : <Status onRetry={() => void (last && session.retry(last.id))} />}
      </div>
      {deleting === null ? null : (
        <Confirm
          title={t.deleteMessageTitle}
          action={t.deleteMessage}
          isDanger
          onConfirm={() => session.remove(deleting)}
          onClose={() => setDeleting(null)}
        >
          <p className="text-soft">{t.deleteMessageHint}</p>
        </Confirm>
      )}
    </Thread>
  );
}

/** Loads the message in the address, once: later its reader may edit it, or go to another version. */
function useReachedTarget(target: string | null): void {
  const { session, isLoading } = useChatSession();
  const { messages, isBusy } = useChatState();
  const [reached, setReached] = useState<string | null>(null);
  const isShown = messages.some((message) => message.id === target);
  if (isShown && target !== reached) setReached(target);
  const isSought = target !== null && target !== reached && !isShown;
  const isElsewhere = isSought && !isLoading && !isBusy && messages.length > 0;
  useEffect(() => {
    if (isElsewhere) void session.reach(target).catch(() => undefined);
  }, [session, target, isElsewhere]);
}

/** What the page waits for, or what went wrong; never an endless spinner. */
function Status({ onRetry }: { onRetry: () => void }) {
  const t = useText();
  const { session, isLoading, loadError, isReconnecting } = useChatSession();
  const { messages, status, error, isBusy } = useChatState();
  const last = messages.at(-1);
  const progress = useModelProgress();
  const isSilent = last?.role !== "assistant" || last.parts.every((part) => part.type === "step-start");
  if (isLoading) return <Waiting text={t.loading} />;
  if (progress !== null) return <Waiting text={t.modelProgress[progress.phase](progress.percent)} />;
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
  onDelete: (id: string) => void;
  onSwitch: (id: string) => Promise<void>;
  onInspect: (runId: string) => void;
}

/** A message with its actions; rendered again only when it changes. */
const Entry = memo(function Entry(props: EntryProps) {
  const { message, isLive, isDisabled, siblings, onEdit, onDelete, onSwitch, onInspect } = props;
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
      onDelete={siblings === undefined ? null : onDelete}
      lead={<BranchNav siblings={siblings} isDisabled={isDisabled} onSwitch={(id) => void onSwitch(id)} />}
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
      drawWork={drawWork}
      onOpen={openChat}
      outcome={isLive ? null : <Outcome metadata={message.metadata} onRetry={() => retry(message.id)} />}
      footer={isLive ? null : footer}
    />
  );
});
