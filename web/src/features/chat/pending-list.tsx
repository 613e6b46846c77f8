import { CornerDownRight, ListEnd, X } from "lucide-react";
import type { PendingMessage } from "@/features/chat/inbox";
import { wordsOf } from "@/protocol/inbox";
import { useText } from "@/text/text";
import { Spinner } from "@/ui/spinner";

interface PendingListProps {
  messages: readonly PendingMessage[];
  onRemove: (id: string) => void;
}

/** What was sent during an answer and is not taken yet: when it will be read, and a way to take it back. */
export function PendingList({ messages, onRemove }: PendingListProps) {
  const t = useText();
  if (messages.length === 0) return null;
  return (
    <ul aria-label={t.pendingMessages} aria-live="polite" className="max-h-40 space-y-1 overflow-y-auto">
      {messages.map((message) => {
        const words = wordsOf(message.parts);
        const Sign = message.kind === "queue" ? ListEnd : CornerDownRight;
        return (
          <li
            key={message.id}
            className="flex animate-rise items-center gap-2 rounded-xl border border-dashed border-line-strong py-1 pr-1 pl-3 text-[13px]"
          >
            {message.isOnItsWay ? <Spinner /> : <Sign size={14} className="shrink-0 text-faint" aria-hidden="true" />}
            <span className="shrink-0 text-faint">{message.kind === "queue" ? t.afterAnswer : t.nextTurn}</span>
            <span className="min-w-0 flex-1 truncate" title={words}>
              {words}
            </span>
            <button
              type="button"
              aria-label={t.takeBack(words)}
              title={t.takeBack(words)}
              disabled={message.isOnItsWay}
              onClick={() => onRemove(message.id)}
              className="rounded-lg p-1.5 text-faint hover:bg-raised hover:text-ink disabled:invisible"
            >
              <X size={14} aria-hidden="true" />
            </button>
          </li>
        );
      })}
    </ul>
  );
}
