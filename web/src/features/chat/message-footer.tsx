import { Pencil, RotateCcw, Trash2 } from "lucide-react";
import type { ReactNode } from "react";
import { type ChatMessage, messageText } from "@/protocol/message";
import { formatCost, formatCount, formatSeconds } from "@/text/format";
import { useText } from "@/text/text";
import { IconButton } from "@/ui/button";
import { CopyButton } from "@/ui/copy-button";

interface MessageFooterProps {
  message: ChatMessage;
  isDisabled: boolean;
  onRetry: (id: string) => void;
  onEdit: (id: string) => void;
  /** Null for a message that is not stored. */
  onDelete: ((id: string) => void) | null;
  /** Always shown, before the actions. */
  lead?: ReactNode;
  /** Further actions. */
  children?: ReactNode;
}

/** The actions and the cost of a message, inconspicuous until they are needed. */
export function MessageFooter(props: MessageFooterProps) {
  const { message, isDisabled, onRetry, onEdit, onDelete, lead, children } = props;
  const t = useText();
  const text = messageText(message);
  const isOwn = message.role === "user";
  return (
    <div className={`-mx-1.5 flex h-7 shrink-0 items-center gap-0.5 ${isOwn ? "flex-row-reverse" : ""}`}>
      {lead}
      <div className="flex min-w-0 items-center gap-0.5 opacity-0 transition-opacity group-focus-within:opacity-100 group-hover:opacity-100 max-md:opacity-100">
        {text === "" ? null : <CopyButton text={text} />}
        {message.role === "assistant" ? (
          <IconButton label={t.retry} className="size-7" disabled={isDisabled} onClick={() => onRetry(message.id)}>
            <RotateCcw size={14} />
          </IconButton>
        ) : (
          <IconButton label={t.edit} className="size-7" disabled={isDisabled} onClick={() => onEdit(message.id)}>
            <Pencil size={14} />
          </IconButton>
        )}
        {children}
        {onDelete === null ? null : (
          <IconButton
            label={t.deleteMessage}
            className="size-7"
            disabled={isDisabled}
            onClick={() => onDelete(message.id)}
          >
            <Trash2 size={14} />
          </IconButton>
        )}
        <Figures message={message} />
      </div>
    </div>
  );
}

function Figures({ message }: { message: ChatMessage }) {
  const t = useText();
  const { usage, duration, model } = message.metadata ?? {};
  const parts = [
    model,
    usage?.output_tokens
      ? t.tokens(formatCount(usage.input_tokens ?? 0), formatCount(usage.output_tokens ?? 0))
      : undefined,
    typeof usage?.cost === "number" && usage.cost > 0 ? `${t.cost} ${formatCost(usage.cost)}` : undefined,
    duration === undefined ? undefined : formatSeconds(duration),
  ].filter((part) => part !== undefined);
  if (parts.length === 0) return null;
  return <span className="ml-1.5 min-w-0 truncate text-[12px] text-faint tabular-nums">{parts.join(" · ")}</span>;
}
