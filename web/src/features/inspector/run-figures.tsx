import type { RunSummary } from "@/features/inspector/timeline";
import { formatCount, formatSeconds } from "@/text/format";
import { useText } from "@/text/text";

/** What a run was and what it took. */
export function RunFigures({ runId, summary }: { runId: string; summary: RunSummary }) {
  const t = useText();
  const { usage } = summary;
  const figures: Array<[string, string]> = [
    [t.agent, summary.agent],
    [t.model, summary.model],
    [t.runState, summary.isOver ? (summary.reason ?? "") : t.toolRunning],
    [t.time, formatSeconds(summary.seconds)],
    [t.turns, `${summary.turns} · ${t.callCount(summary.calls)}`],
    [t.tokensName, t.tokens(formatCount(usage.input_tokens), formatCount(usage.output_tokens))],
  ];
  if (usage.cost !== null) figures.push([t.cost, usage.cost.toPrecision(3)]);
  figures.push([t.run, runId]);
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-5 gap-y-1 rounded-xl border border-line bg-surface px-4 py-3 text-[13px]">
      {figures.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-faint">{name}</dt>
          <dd className="min-w-0 truncate tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
