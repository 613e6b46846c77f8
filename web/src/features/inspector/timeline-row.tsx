import { ChevronRight } from "lucide-react";
import { type ReactNode, useState } from "react";
import { RequestView } from "@/features/inspector/request-view";
import type { RowKind, TimelineRow } from "@/features/inspector/timeline";
import { requestTimes } from "@/features/inspector/timing";
import { costText, tokensText } from "@/features/inspector/usage";
import type { ModelRequest, TurnDetail } from "@/protocol/run";
import { text } from "@/protocol/shapes";
import { formatSeconds } from "@/text/format";
import { type Text, useText } from "@/text/text";
import { useAgentName } from "@/ui/agent-name";
import { ScrollBlock } from "@/ui/scroll-block";

const COLORS: Record<RowKind, string> = {
  run: "bg-line-strong",
  turn: "",
  request: "bg-faint/70",
  text: "bg-accent",
  reasoning: "bg-accent/50",
  tool: "bg-[var(--code-name)]",
  ask: "bg-warn",
  message: "bg-soft",
};

/** Indents the rows of child runs. */
function Indent({ depth, children }: { depth: number; children: ReactNode }) {
  return depth === 0 ? (
    children
  ) : (
    <div className="border-l-2 border-line pl-3" style={{ marginLeft: `${(depth - 1) * 14 + 4}px` }}>
      {children}
    </div>
  );
}

/** The beginning of a turn, with its figures. */
export function TurnMark({ row }: { row: TimelineRow }) {
  const t = useText();
  const { usage, finish_reason: reason, timing } = row.detail as TurnDetail;
  const figures = [
    ...(usage !== undefined ? [tokensText(t, usage), costText(usage)] : []),
    t.finishReasons[text(reason)] ?? text(reason),
  ].filter((figure) => figure !== "");
  return (
    <li>
      <Indent depth={row.depth}>
        <div className="flex items-center gap-3 pt-4 pb-1 text-[12px] text-faint">
          <span className="font-medium text-soft">{t.turnNumber(row.title)}</span>
          <span className="h-px flex-1 bg-line" />
          <span className="tabular-nums">{figures.join(" · ")}</span>
        </div>
        {timing === undefined ? null : (
          <p className="pb-1 text-[12px] break-words text-faint tabular-nums">{requestTimes(t, timing)}</p>
        )}
      </Indent>
    </li>
  );
}

/** A row: its name, its bar on the timeline and, when opened, its details. */
export function TimelineRowView({ row, total }: { row: TimelineRow; total: number }) {
  const t = useText();
  const agentName = useAgentName();
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <Indent depth={row.depth}>
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
          className="w-full rounded-md py-1.5 text-left text-[13px] -outline-offset-2 hover:bg-sunken"
        >
          <span className="flex items-baseline gap-2">
            <span className="shrink-0 text-faint">{nameOf(row.kind, t)}</span>
            <span className={`min-w-0 flex-1 truncate font-medium ${row.isFailed ? "text-danger" : ""}`}>
              {row.kind === "run" ? agentName(row.title) : titleOf(row, t)}
            </span>
            <span className="shrink-0 text-[12px] text-faint tabular-nums">
              {row.duration === null ? t.toolRunning : formatSeconds(row.duration)}
            </span>
            <ChevronRight
              size={13}
              aria-hidden="true"
              className={`shrink-0 self-center text-faint transition-transform ${isOpen ? "rotate-90" : ""}`}
            />
          </span>
          <Bar row={row} total={total} />
        </button>
        {isOpen ? <Detail row={row} /> : null}
      </Indent>
    </li>
  );
}

function Bar({ row, total }: { row: TimelineRow; total: number }) {
  const scale = Math.max(total, 0.001);
  const left = Math.min((row.start / scale) * 100, 99);
  const width = Math.max(0.8, ((row.duration ?? total - row.start) / scale) * 100);
  return (
    <span aria-hidden="true" className="mt-1.5 block h-1 overflow-hidden rounded-full bg-raised">
      <span
        className={`block h-full rounded-full ${row.isFailed ? "bg-danger" : COLORS[row.kind]}`}
        style={{ marginLeft: `${left}%`, width: `${Math.min(width, 100 - left)}%` }}
      />
    </span>
  );
}

function Detail({ row }: { row: TimelineRow }) {
  if (row.kind === "request") return <RequestView request={row.detail as ModelRequest} />;
  return (
    <ScrollBlock className="mt-1 mb-3 max-h-80 rounded-lg border border-line bg-sunken p-3 text-[12px] break-words whitespace-pre-wrap">
      {typeof row.detail === "string" ? row.detail : JSON.stringify(row.detail, null, 2)}
    </ScrollBlock>
  );
}

function nameOf(kind: RowKind, t: Text): string {
  const names: Record<RowKind, string> = {
    run: t.run,
    turn: t.turn,
    request: t.prompt,
    text: t.answerText,
    reasoning: t.thought,
    tool: t.tool,
    ask: t.question,
    message: t.message,
  };
  return names[kind];
}

function titleOf(row: TimelineRow, t: Text): string {
  if (row.kind === "request") {
    const { messages, kept, isSummary } = row.detail as ModelRequest;
    const count = t.messageCount(messages.length, messages.length - kept);
    return isSummary ? `${t.summaryRequest}, ${count}` : count;
  }
  if (row.kind === "ask") return t.askKinds[row.title] ?? row.title;
  return row.title || (typeof row.detail === "string" ? row.detail.slice(0, 80) : "");
}
