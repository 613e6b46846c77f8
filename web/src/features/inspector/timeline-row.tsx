import { useState } from "react";
import type { RowKind, TimelineRow } from "@/features/inspector/timeline";
import { number, record, text } from "@/protocol/shapes";
import { formatCount, formatSeconds } from "@/text/format";
import { useText } from "@/text/text";
import { ScrollBlock } from "@/ui/scroll-block";

const COLORS: Record<RowKind, string> = {
  run: "bg-line-strong",
  turn: "",
  text: "bg-accent",
  reasoning: "bg-accent/50",
  tool: "bg-[var(--code-name)]",
  ask: "bg-warn",
};

/** Where one turn ends and the next begins, and what it took. */
export function TurnMark({ row }: { row: TimelineRow }) {
  const t = useText();
  const { usage, finish_reason: reason } = record(row.detail);
  const { input_tokens: input, output_tokens: output } = record(usage);
  return (
    <li
      className="flex items-center gap-3 pt-3 pb-1 text-[12px] text-faint"
      style={{ paddingLeft: `${row.depth * 14}px` }}
    >
      <span className="font-medium">
        {t.turn} {row.title}
      </span>
      <span className="h-px flex-1 bg-line" />
      <span className="tabular-nums">
        {t.tokens(formatCount(number(input)), formatCount(number(output)))} · {text(reason)}
      </span>
    </li>
  );
}

/** One row: its name, its place on the time line, and on demand everything that is known of it. */
export function TimelineRowView({ row, total }: { row: TimelineRow; total: number }) {
  const t = useText();
  const [isOpen, setOpen] = useState(false);
  const names: Record<RowKind, string> = {
    run: t.run,
    turn: t.turn,
    text: t.answerText,
    reasoning: t.thought,
    tool: t.tool,
    ask: t.question,
  };
  const scale = Math.max(total, 0.001);
  const left = (row.start / scale) * 100;
  const width = Math.max(0.8, ((row.duration ?? total - row.start) / scale) * 100);
  return (
    <li className="border-t border-line first:border-t-0">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="w-full py-2 text-left text-[13px] -outline-offset-2"
        style={{ paddingLeft: `${row.depth * 14}px` }}
      >
        <span className="flex items-baseline gap-2">
          <span className="shrink-0 text-faint">{names[row.kind]}</span>
          <span className={`min-w-0 flex-1 truncate font-medium ${row.isFailed ? "text-danger" : ""}`}>
            {row.title || preview(row.detail)}
          </span>
          <span className="shrink-0 text-[12px] text-faint tabular-nums">
            {row.duration === null ? t.toolRunning : formatSeconds(row.duration)}
          </span>
        </span>
        <span aria-hidden="true" className="mt-1.5 block h-1 overflow-hidden rounded-full bg-raised">
          <span
            className={`block h-full rounded-full ${row.isFailed ? "bg-danger" : COLORS[row.kind]}`}
            style={{ marginLeft: `${Math.min(left, 99)}%`, width: `${Math.min(width, 100 - Math.min(left, 99))}%` }}
          />
        </span>
      </button>
      {isOpen ? (
        <ScrollBlock className="mb-3 max-h-80 rounded-lg border border-line bg-sunken p-3 text-[12px] break-words whitespace-pre-wrap">
          {typeof row.detail === "string" ? row.detail : JSON.stringify(row.detail, null, 2)}
        </ScrollBlock>
      ) : null}
    </li>
  );
}

function preview(detail: unknown): string {
  return typeof detail === "string" ? detail.slice(0, 80) : "";
}
