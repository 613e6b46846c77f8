import { Ban, Check, ChevronRight, CircleAlert, CirclePause, Hand, Wrench } from "lucide-react";
import { memo, type ReactNode, useState } from "react";
import { Output, Plain } from "@/features/tool-cards/output";
import { type CallState, callState, callTitle, inputSummary, outputSummary } from "@/features/tool-cards/tool-view";
import type { ToolPart } from "@/protocol/message";
import { isRecord } from "@/protocol/shapes";
import { formatSeconds } from "@/text/format";
import { useText } from "@/text/text";
import { Spinner } from "@/ui/spinner";

interface UnifiedToolProps {
  part: ToolPart;
  isLive: boolean;
  /** Replaces the wrench. */
  icon?: ReactNode;
  /** An ask; the card opens for it. */
  question?: ReactNode;
  /** Whether something inside asks for an answer; the card opens for that too. */
  isAskedBelow?: boolean;
  /** Replaces input and output for tools with a better way to show them. */
  details?: ReactNode;
  /** Whether the content already shows the output. */
  isOutputInside?: boolean;
  /** What came of the call, in a word; otherwise a short output is shown. */
  result?: string | undefined;
  /** Shown between the ask and the input. */
  children?: ReactNode;
}

/** The card of a tool call: its title, state, input and output. */
export const UnifiedTool = memo(function UnifiedTool(props: UnifiedToolProps) {
  const { part, isLive, icon, question, isAskedBelow = false, isOutputInside = false, details, children } = props;
  const t = useText();
  const ownState = callState(part, isLive);
  const state = isAskedBelow && ownState === "running" ? "waiting" : ownState;
  const title = callTitle(part);
  const summary = inputSummary(part.input);
  const [isOpen, setOpen] = useState(false);
  const isShown = isOpen || state === "waiting";
  const shortOutput = isOutputInside ? "" : outputSummary(part);
  const result = isShown ? "" : (props.result ?? shortOutput);
  return (
    <section
      aria-label={`${title}: ${stateText(state, t)}`}
      data-tool-state={state}
      className="animate-rise overflow-hidden rounded-xl border border-line bg-surface"
    >
      <button
        type="button"
        aria-expanded={isShown}
        onClick={() => setOpen(!isOpen)}
        className="flex h-10 w-full items-center gap-2.5 px-3 text-left text-[13.5px] -outline-offset-2 hover:bg-sunken"
      >
        <span className="shrink-0 text-faint">{icon ?? <Wrench size={15} aria-hidden="true" />}</span>
        <span className="max-w-[70%] shrink-0 truncate font-medium">{title}</span>
        <span className="min-w-0 flex-1 truncate font-mono text-[12.5px] text-faint">
          {title.includes(summary) ? "" : summary}
          {result === "" ? null : <span className="text-soft"> → {result}</span>}
        </span>
        <StateSign state={state} part={part} />
        <ChevronRight
          size={15}
          aria-hidden="true"
          className={`shrink-0 text-faint transition-transform ${isShown ? "rotate-90" : ""}`}
        />
      </button>
      {isShown ? (
        <div className="space-y-3 border-t border-line bg-sunken px-3.5 py-3">
          {details ?? <Details part={part} isOutputInside={isOutputInside} />}
          {children}
          {question}
        </div>
      ) : null}
    </section>
  );
});

function Details({ part, isOutputInside }: { part: ToolPart; isOutputInside: boolean }) {
  const t = useText();
  const raw = part.state === "input-streaming" ? part.rawInput : undefined;
  return (
    <>
      <Field name={t.input}>{raw === undefined ? <CallInput input={part.input} /> : <Plain text={raw} />}</Field>
      {part.state === "output-available" && !isOutputInside ? (
        <Field name={t.output}>
          <Output output={part.output} />
        </Field>
      ) : null}
      {part.state === "output-error" ? (
        <Field name={t.error}>
          <Plain text={part.errorText} isError />
        </Field>
      ) : null}
    </>
  );
}

/** Flat values as a list of names and values; nested ones as JSON. */
export function CallInput({ input }: { input: unknown }) {
  const entries = isRecord(input) ? Object.entries(input) : [];
  const isFlat = entries.length > 0 && entries.every(([, value]) => typeof value !== "object" || value === null);
  if (!isFlat) return <Plain text={JSON.stringify(input ?? {}, null, 2)} />;
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-0.5 font-mono text-[12.5px] leading-[1.6]">
      {entries.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-soft">{name}</dt>
          <dd className="min-w-0 break-words whitespace-pre-wrap">{String(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Field({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <p className="mb-1 text-[12px] text-faint">{name}</p>
      {children}
    </div>
  );
}

function StateSign({ state, part }: { state: CallState; part: ToolPart }) {
  const t = useText();
  const seconds = callSeconds(part);
  const time = seconds === null ? null : <span className="tabular-nums">{formatSeconds(seconds)}</span>;
  if (state === "done") {
    return (
      <span className="flex shrink-0 items-center gap-1.5 text-[12px] text-faint">
        {time}
        <Check size={15} className="text-accent" aria-label={t.toolDone} />
      </span>
    );
  }
  const word = <span className="max-sm:sr-only">{stateText(state, t)}</span>;
  const look = "flex shrink-0 items-center gap-1.5 text-[12px]";
  switch (state) {
    case "writing":
    case "running":
      return (
        <span className={`${look} text-soft`}>
          {word} <Spinner />
        </span>
      );
    case "waiting":
      return (
        <span className={`${look} text-warn`}>
          {word} <Hand size={15} aria-hidden="true" />
        </span>
      );
    case "failed":
      return (
        <span className={`${look} text-danger`}>
          {time} {word} <CircleAlert size={15} aria-hidden="true" />
        </span>
      );
    case "denied":
      return (
        <span className={`${look} text-soft`}>
          {word} <Ban size={15} aria-hidden="true" />
        </span>
      );
    case "interrupted":
      return (
        <span className={`${look} text-soft`}>
          {word} <CirclePause size={15} aria-hidden="true" />
        </span>
      );
  }
}

function callSeconds(part: ToolPart): number | null {
  const duration = part.toolMetadata?.["duration"];
  return typeof duration === "number" ? duration : null;
}

function stateText(state: CallState, t: ReturnType<typeof useText>): string {
  const words: Record<CallState, string> = {
    writing: t.toolWriting,
    waiting: t.toolWaiting,
    running: t.toolRunning,
    done: t.toolDone,
    failed: t.toolFailed,
    denied: t.toolDenied,
    interrupted: t.toolInterrupted,
  };
  return words[state];
}
