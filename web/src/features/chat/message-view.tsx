import { Paperclip } from "lucide-react";
import { memo, type ReactNode } from "react";
import { Reasoning } from "@/features/chat/reasoning";
import { type ChatMessage, isToolPart, type MessagePart, type ToolPart } from "@/protocol/message";
import { useText } from "@/text/text";
import { ErrorBoundary } from "@/ui/error-boundary";
import { Markdown } from "@/ui/markdown/markdown";
import { Notice } from "@/ui/notice";

/** Renders a tool call; supplied by the app, because tool cards are another feature. */
export type DrawTool = (part: ToolPart, isLive: boolean, message: ChatMessage) => ReactNode;

interface MessageViewProps {
  message: ChatMessage;
  /** Whether the answer is in progress. */
  isLive: boolean;
  drawTool: DrawTool;
  /** Shown below the parts: how the answer ended. */
  outcome?: ReactNode;
  footer?: ReactNode;
}

export const MessageView = memo(function MessageView({ message, isLive, drawTool, outcome, footer }: MessageViewProps) {
  const t = useText();
  return message.role === "user" ? (
    <article aria-label={t.you} data-message={message.id} className="message group flex flex-col items-end gap-1">
      <UserParts message={message} />
      {footer}
    </article>
  ) : (
    <article
      aria-label={t.assistant}
      aria-busy={isLive}
      data-message={message.id}
      className="message group flex flex-col gap-1"
    >
      <div className="space-y-3.5">
        {message.parts.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts are only ever appended
          <ErrorBoundary key={index} subject={part} fallback={<Undrawable part={part} />}>
            <AnswerPart part={part} message={message} isLive={isLive} drawTool={drawTool} />
          </ErrorBoundary>
        ))}
        {outcome}
      </div>
      {footer}
    </article>
  );
});

interface AnswerPartProps {
  part: MessagePart;
  message: ChatMessage;
  isLive: boolean;
  drawTool: DrawTool;
}

function AnswerPart({ part, message, isLive, drawTool }: AnswerPartProps) {
  if (part.type === "text") return <Markdown text={part.text} isStreaming={isLive && part.state === "streaming"} />;
  if (part.type === "reasoning") return <Reasoning text={part.text} isLive={isLive && part.state === "streaming"} />;
  if (isToolPart(part)) return drawTool(part, isLive, message);
  return part.type === "file" ? <FilePart part={part} /> : null;
}

/** A part that cannot be rendered: its source text, if it has one. */
function Undrawable({ part }: { part: MessagePart | null }) {
  const t = useText();
  const text: unknown = part !== null && "text" in part ? part.text : null;
  if (typeof text === "string") return <p className="break-words whitespace-pre-wrap">{text}</p>;
  return <Notice title={t.undrawablePart} />;
}

function UserParts({ message }: { message: ChatMessage }) {
  return message.parts.map((part, index) => {
    if (part.type === "text" && part.text !== "") {
      return (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: a sent message does not change
          key={index}
          className="max-w-[85%] rounded-2xl rounded-br-md bg-raised px-4 py-2.5 break-words whitespace-pre-wrap"
        >
          {part.text}
        </div>
      );
    }
    // biome-ignore lint/suspicious/noArrayIndexKey: a sent message does not change
    return part.type === "file" ? <FilePart key={index} part={part} /> : null;
  });
}

function FilePart({ part }: { part: Extract<MessagePart, { type: "file" }> }) {
  const name = part.filename ?? part.mediaType;
  const isOwn = part.url.startsWith("data:image/") || part.url.startsWith("/");
  if (part.mediaType.startsWith("image") && isOwn) {
    return <img src={part.url} alt={name} className="max-h-72 max-w-[85%] rounded-xl border border-line" />;
  }
  return (
    <span className="flex items-center gap-2 rounded-xl border border-line bg-surface px-3 py-2 text-[13px]">
      <Paperclip size={14} className="text-faint" aria-hidden="true" /> {name}
    </span>
  );
}
