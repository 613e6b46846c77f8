import { memo, type ReactNode } from "react";
import { Reasoning } from "@/features/chat/reasoning";
import { TakenMessageView } from "@/features/chat/taken-message";
import { FilePart, UserParts } from "@/features/chat/user-parts";
import { takenMessage } from "@/protocol/inbox";
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
  /** Opens another chat. */
  onOpen: (sessionId: string) => void;
  /** Shown below the parts: how the answer ended. */
  outcome?: ReactNode;
  footer?: ReactNode;
}

export const MessageView = memo(function MessageView(props: MessageViewProps) {
  const { message, isLive, drawTool, onOpen, outcome, footer } = props;
  const t = useText();
  return message.role === "user" ? (
    <article aria-label={t.you} data-message={message.id} className="message group flex flex-col items-end gap-1">
      <UserParts parts={message.parts} />
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
            <AnswerPart part={part} message={message} isLive={isLive} drawTool={drawTool} onOpen={onOpen} />
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
  onOpen: (sessionId: string) => void;
}

function AnswerPart({ part, message, isLive, drawTool, onOpen }: AnswerPartProps) {
  if (part.type === "text") return <Markdown text={part.text} isStreaming={isLive && part.state === "streaming"} />;
  if (part.type === "reasoning") return <Reasoning text={part.text} isLive={isLive && part.state === "streaming"} />;
  if (isToolPart(part)) return drawTool(part, isLive, message);
  const taken = takenMessage(part);
  if (taken !== null) return <TakenMessageView message={taken} onOpen={onOpen} />;
  return part.type === "file" ? <FilePart part={part} /> : null;
}

/** A part that cannot be rendered: its source text, if it has one. */
function Undrawable({ part }: { part: MessagePart | null }) {
  const t = useText();
  const text: unknown = part !== null && "text" in part ? part.text : null;
  if (typeof text === "string") return <p className="break-words whitespace-pre-wrap">{text}</p>;
  return <Notice title={t.undrawablePart} />;
}
