import { Pencil, RotateCcw } from "lucide-react";
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
  /** Always shown, before the actions. */
  lead?: ReactNode;
  /** Further actions. */
  children?: ReactNode;
}

/** The actions and the cost of a message, inconspicuous until they are needed. */
export function MessageFooter({ message, isDisabled, onRetry, onEdit, lead, children }: MessageFooterProps) {
  const t = useText();
  const text = messageText(message);
  return (
    <div className="-mx-1.5 flex h-7 items-center gap-0.5">
      {lead}
      <div className="flex items-center gap-0.5 opacity-0 transition-opacity group-focus-within:opacity-100 group-hover:opacity-100 max-md:opacity-100">
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
  return <span className="ml-1.5 truncate text-[12px] text-faint tabular-nums">{parts.join(" · ")}</span>;
}
