import { memo, type ReactNode, Suspense, useMemo, useRef } from "react";
import { TakenMessageView } from "@/features/chat/taken-message";
import { type Caller, useStoredRuns } from "@/features/chat/use-chat";
import { SentFiles, UserParts } from "@/features/chat/user-parts";
import { takenMessage } from "@/protocol/inbox";
import type { ChatMessage, MessagePart } from "@/protocol/message";
import { type Segment, segmentsOf, type WorkSegment, type WorkState, workState } from "@/protocol/segments";
import { useText } from "@/text/text";
import { ErrorBoundary } from "@/ui/error-boundary";
import { Markdown } from "@/ui/markdown/markdown";
import { Notice } from "@/ui/notice";

/** Renders reasoning and tool calls; supplied by the app, because tool cards are another feature. */
export type DrawWork = (segment: WorkSegment, state: WorkState, caller: Caller) => ReactNode;

interface MessageViewProps {
  message: ChatMessage;
  /** Whether the answer is in progress. */
  isLive: boolean;
  drawWork: DrawWork;
  /** Opens another chat. */
  onOpen: (sessionId: string) => void;
  /** Shown below the parts: how the answer ended. */
  outcome?: ReactNode;
  footer?: ReactNode;
}

export const MessageView = memo(function MessageView(props: MessageViewProps) {
  const { message, isLive, outcome, footer } = props;
  const t = useText();
  return message.role === "user" ? (
    <article
      aria-label={t.you}
      data-message={message.id}
      className="message group flex flex-col items-end gap-1 md:flex-row-reverse md:gap-3"
    >
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
        <AnswerParts {...props} />
        {outcome}
      </div>
      {footer}
    </article>
  );
});

/** The answer: its texts, and the work between them. */
function AnswerParts({ message, isLive, drawWork, onOpen }: MessageViewProps) {
  const known = useRef<Segment[]>([]);
  known.current = segmentsOf(message.parts, known.current);
  const segments = known.current;
  const stored = useStoredRuns(message);
  const caller: Caller = useMemo(() => ({ runId: null, path: [], stored }), [stored]);
  return segments.map((segment, place) => {
    const part = segment.kind === "part" ? segment.part : null;
    return (
      <ErrorBoundary key={segment.index} subject={segment} fallback={<Undrawable part={part} />}>
        {segment.kind === "work" ? (
          drawWork(segment, workState(segments, place, isLive), caller)
        ) : (
          <AnswerPart part={segment.part} isLive={isLive} onOpen={onOpen} />
        )}
      </ErrorBoundary>
    );
  });
}

interface AnswerPartProps {
  part: MessagePart;
  isLive: boolean;
  onOpen: (sessionId: string) => void;
}

const AnswerPart = memo(function AnswerPart({ part, isLive, onOpen }: AnswerPartProps) {
  if (part.type === "text") return <Markdown text={part.text} isStreaming={isLive && part.state === "streaming"} />;
  const taken = takenMessage(part);
  if (taken !== null) return <TakenMessageView message={taken} onOpen={onOpen} />;
  if (part.type !== "file") return <Undrawable part={part} />;
  return (
    <Suspense>
      <SentFiles parts={[part]} />
    </Suspense>
  );
});

/** A part that cannot be rendered: its source text, if it has one. */
function Undrawable({ part }: { part: MessagePart | null }) {
  const t = useText();
  const text: unknown = part !== null && "text" in part ? part.text : null;
  if (typeof text === "string") return <p className="break-words whitespace-pre-wrap">{text}</p>;
  return <Notice title={t.undrawablePart} />;
}
