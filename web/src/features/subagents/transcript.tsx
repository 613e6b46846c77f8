import { type ReactNode, useEffect, useLayoutEffect, useRef } from "react";
import type { Run } from "@/protocol/run";
import { partsOf } from "@/protocol/run";
import { type Segment, segmentsOf, type WorkSegment, type WorkState, workState } from "@/protocol/segments";
import { useText } from "@/text/text";
import { useAgentName } from "@/ui/agent-name";
import { Markdown } from "@/ui/markdown/markdown";
import { Spinner } from "@/ui/spinner";

interface TranscriptProps {
  run: Run;
  /** Whether the agent's name is shown: the line of the call has it already if it started one agent. */
  isNamed: boolean;
  /** Whether something inside asks for an answer; then all of it is shown. */
  isAsked: boolean;
  drawWork: (segment: WorkSegment, state: WorkState) => ReactNode;
  /** Whether its steps arrive with the answer; loading them as well would show them twice. */
  isStreamed: boolean;
  /** Called when the transcript is shown and its steps are not known. */
  onNeeded: () => void;
}

/** What a sub-agent writes and does, below the call that started it; while it works, the newest is in sight. */
export function Transcript({ run, isNamed, isAsked, drawWork, isStreamed, onNeeded }: TranscriptProps) {
  const t = useText();
  const { isWhole } = run;
  const agent = useAgentName()(run.agent);
  // biome-ignore lint/correctness/useExhaustiveDependencies: loaded once, when it is shown
  useEffect(() => {
    if (!isWhole && !isStreamed) onNeeded();
  }, [isWhole, isStreamed]);
  const isLive = run.state === "running";
  const frame = useFollowing(isLive && !isAsked, run);
  const known = useRef<Segment[]>([]);
  known.current = segmentsOf(partsOf(run), known.current);
  const segments = known.current;
  const words = { running: t.toolRunning, done: t.toolDone, failed: t.toolFailed, stopped: t.toolInterrupted };
  return (
    <section aria-label={`${agent}: ${words[run.state]}`}>
      {isNamed ? (
        <p className="mb-1 flex items-center gap-2 text-[13px] text-soft">
          <span className="font-medium">{agent}</span>
          <span className="flex-1 text-faint">{words[run.state]}</span>
          {isLive ? <Spinner /> : null}
        </p>
      ) : null}
      <div
        ref={frame}
        tabIndex={isLive && !isAsked ? 0 : undefined}
        className={`space-y-2.5 text-[14px] ${isLive && !isAsked ? "max-h-72 overflow-y-auto" : ""}`}
      >
        {segments.map((segment, place) => {
          if (segment.kind === "work")
            return <div key={segment.index}>{drawWork(segment, workState(segments, place, isLive))}</div>;
          const { part } = segment;
          return part.type === "text" ? (
            <Markdown key={segment.index} text={part.text} isStreaming={isLive && part.state === "streaming"} />
          ) : null;
        })}
      </div>
    </section>
  );
}

/** Keeps the end of a growing area in sight, unless the reader has scrolled up in it. */
function useFollowing(isFollowing: boolean, grown: unknown) {
  const frame = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const onScroll = () => {
      isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < 24;
    };
    element.addEventListener("scroll", onScroll, { passive: true });
    return () => element.removeEventListener("scroll", onScroll);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it has grown
  useLayoutEffect(() => {
    if (isFollowing && isAtEnd.current) frame.current?.scrollTo(0, frame.current.scrollHeight);
  }, [isFollowing, grown]);
  return frame;
}
