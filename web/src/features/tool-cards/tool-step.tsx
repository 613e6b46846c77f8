import { Ban, CircleAlert, CirclePause, Hand } from "lucide-react";
import { lazy, memo, type ReactNode, Suspense, useState } from "react";
import { LiveTail } from "@/features/tool-cards/plain";
import { Step } from "@/features/tool-cards/step";
import { StepIcon } from "@/features/tool-cards/step-icon";
import { type CallState, callState, callTitle, declineReason, outputSummary } from "@/features/tool-cards/tool-view";
import { activityOf, type Phrase, phraseOf } from "@/features/tool-cards/verbs";
import type { ToolPart } from "@/protocol/message";
import { formatSeconds } from "@/text/format";
import { type Text, useText } from "@/text/text";
import { showOnLine } from "@/text/visible";
import { Spinner } from "@/ui/spinner";

const load = () => import("@/features/tool-cards/step-details");
const StepDetails = lazy(async () => ({ default: (await load()).StepDetails }));
const StepOutput = lazy(async () => ({ default: (await load()).StepOutput }));

/** A call is held while another one of its turn waits to be allowed or declined. */
type StepState = CallState | "held";

interface ToolStepProps {
  part: ToolPart;
  isLive: boolean;
  /** Whether the call runs an agent. */
  isAgent?: boolean;
  /** Whether that agent works now. */
  isAtWork?: boolean;
  /** Whether it stands next to others that run at the same time. */
  isLane?: boolean;
  /** An ask, which shows the input itself; the step opens for it. */
  question?: ReactNode;
  /** Whether it cannot begin before another call of its turn was allowed or declined. */
  isHeld?: boolean;
  /** Whether something inside asks for an answer; the step opens for that too. */
  isAskedBelow?: boolean;
  /** What the call does, in better words than its kind has. */
  title?: string | undefined;
  /** Drawn below the line, also while the step is closed. */
  card?: ReactNode;
  /** Whether the output is shown below the line, also while the step is closed: a picture, or a chart. */
  isOutputKept?: boolean;
  /** Whether the content already shows the output. */
  isOutputInside?: boolean;
  /** What came of the call, in a word; otherwise a short output is shown. */
  result?: string | undefined;
  /** Shown above the input: the agents at work, or a way to repeat the call. */
  children?: ReactNode;
}

/** A call on the line of work. While it runs, its newest output is shown; afterwards it is one line. */
export const ToolStep = memo(function ToolStep(props: ToolStepProps) {
  const { part, isLive, isAgent = false, question, card, isOutputInside = false, children } = props;
  const t = useText();
  const ownState = callState(part, isLive);
  const state = ownState === "running" ? runningState(props) : ownState;
  const [choice, setChoice] = useState<boolean | null>(null);
  const isAtWork = state === "waiting" || (state === "running" && props.isAtWork === true);
  const isOpen = state === "waiting" || (choice ?? isAtWork);
  const { words, object } = wordsOf(props, state === "held" ? "waiting" : ownState, t);
  const result = isOpen ? "" : resultOf(props);
  return (
    <Step
      label={`${callTitle(part, t, isAgent)}: ${stateText(state, t)}`}
      state={state}
      icon={<StepIcon activity={activityOf(part, isAgent, t)} />}
      words={<Words words={words} object={object} result={result} state={state} />}
      aside={<StateSign state={state} part={part} />}
      isOpen={isOpen}
      isLane={props.isLane === true}
      onToggle={() => setChoice(!isOpen)}
      below={
        <>
          {card}
          {isOpen ? null : <Below part={part} state={state} isOutputKept={props.isOutputKept === true} />}
        </>
      }
    >
      {children}
      {question ?? <Details part={part} isOutputInside={isOutputInside} isHidden={isAgent && isAtWork} />}
    </Step>
  );
});

/** The state of a call that has not ended: it may wait for what is asked, or for another call of its turn. */
function runningState({ isHeld, isAskedBelow }: ToolStepProps): StepState {
  if (isAskedBelow) return "waiting";
  return isHeld ? "held" : "running";
}

interface DetailsProps {
  part: ToolPart;
  isOutputInside: boolean;
  /** Whether an agent at work is shown in their place. */
  isHidden: boolean;
}

function Details({ part, isOutputInside, isHidden }: DetailsProps) {
  if (isHidden) return null;
  return (
    <Suspense fallback={null}>
      <StepDetails part={part} isOutputInside={isOutputInside} />
    </Suspense>
  );
}

function wordsOf({ part, title, isAgent = false }: ToolStepProps, state: CallState, t: Text): Phrase {
  return title ? { words: showOnLine(title), object: "" } : phraseOf(part, state, isAgent, t);
}

/** What the line of a closed step says of the result: a short output, or why the call failed or was declined. */
function resultOf({ part, result, isOutputInside = false }: ToolStepProps): string {
  if (result !== undefined) return result;
  if (part.state === "output-error") return part.errorText.split("\n", 1)[0] ?? "";
  if (part.state === "output-denied") return declineReason(part);
  return isOutputInside ? "" : outputSummary(part);
}

interface WordsProps {
  words: string;
  object: string;
  result: string;
  state: StepState;
}

function Words({ words, object, result, state }: WordsProps) {
  const isRunning = state === "running" || state === "writing";
  return (
    <>
      <span className={`shrink-0 truncate ${object === "" ? "" : "max-w-[60%]"} ${isRunning ? "text-ink" : ""}`}>
        {words}
      </span>
      <span className="min-w-0 truncate font-mono text-[12.5px] text-soft">
        {object}
        {result === "" ? null : <span className={state === "failed" ? "text-danger" : "text-faint"}> → {result}</span>}
      </span>
    </>
  );
}

/** What is shown of a closed step: its newest output while it runs, and a picture or chart afterwards. */
function Below({ part, state, isOutputKept }: { part: ToolPart; state: StepState; isOutputKept: boolean }) {
  if (isOutputKept) {
    return (
      <div className="pt-1 pb-3">
        <Suspense fallback={null}>
          <StepOutput part={part} />
        </Suspense>
      </div>
    );
  }
  const isWriting = state === "running" && part.state === "output-available" && part.output !== "";
  return isWriting ? <LiveTail output={part.output} /> : null;
}

/** A shorter call has no duration on its line. */
const BRIEF = 0.1;
const SIGNS = { waiting: Hand, failed: CircleAlert, denied: Ban, interrupted: CirclePause };
const LOOKS = { waiting: "text-warn", failed: "text-danger", denied: "text-soft", interrupted: "text-soft" };

/** The state and the duration; a call that is done has only its duration. */
function StateSign({ state, part }: { state: StepState; part: ToolPart }) {
  const t = useText();
  const seconds = callSeconds(part);
  const time = seconds === null ? null : <span className="tabular-nums">{formatSeconds(seconds)}</span>;
  const look = "flex shrink-0 items-center gap-1.5 text-[12px]";
  if (state === "held") return <span className={`${look} text-faint`}>{t.toolHeld}</span>;
  if (state === "done") {
    return <span className={`${look} text-faint`}>{seconds !== null && seconds < BRIEF ? null : time}</span>;
  }
  if (state === "running" || state === "writing") {
    return (
      <span className={`${look} text-faint`}>
        <span className="sr-only">{stateText(state, t)}</span> <Spinner />
      </span>
    );
  }
  const Sign = SIGNS[state];
  return (
    <span className={`${look} ${LOOKS[state]}`}>
      {state === "failed" ? time : null}
      <span className="@max-md:sr-only">{stateText(state, t)}</span> <Sign size={14} aria-hidden="true" />
    </span>
  );
}

function callSeconds(part: ToolPart): number | null {
  const duration = part.toolMetadata?.["duration"];
  return typeof duration === "number" ? duration : null;
}

function stateText(state: StepState, t: Text): string {
  const words: Record<StepState, string> = {
    writing: t.toolWriting,
    waiting: t.toolWaiting,
    held: t.toolHeld,
    running: t.toolRunning,
    done: t.toolDone,
    failed: t.toolFailed,
    denied: t.toolDenied,
    interrupted: t.toolInterrupted,
  };
  return words[state];
}
