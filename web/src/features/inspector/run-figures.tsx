import { useEffect, useState } from "react";
import type { RunSummary } from "@/features/inspector/summary";
import { runTimes } from "@/features/inspector/timing";
import { costText, tokensText } from "@/features/inspector/usage";
import type { RunTimes } from "@/protocol/run";
import { formatSeconds } from "@/text/format";
import { LANGUAGES, type Text, useLanguage, useText } from "@/text/text";
import { readRunTimes } from "@/transport/runs";
import { useAgentName } from "@/ui/agent-name";
import { CopyButton } from "@/ui/copy-button";

function endText(t: Text, { reason, notice }: RunSummary): string {
  if (reason === null) return t.toolRunning;
  if (notice !== null) return notice;
  return reason === "goal" ? t.toolDone : (t.outcomes[reason] ?? reason);
}

/** When the run was asked for and began; null until it is known. */
function useRunTimes(runId: string): RunTimes | null {
  const [times, setTimes] = useState<RunTimes | null>(null);
  useEffect(() => {
    const leave = new AbortController();
    readRunTimes(runId, leave.signal).then(setTimes, () => undefined);
    return () => leave.abort();
  }, [runId]);
  return times;
}

/** The key figures of a run. */
export function RunFigures({ runId, summary }: { runId: string; summary: RunSummary }) {
  const t = useText();
  const locale = LANGUAGES[useLanguage()].locale;
  const times = useRunTimes(runId);
  const { usage } = summary;
  const agentName = useAgentName();
  const figures: Array<[string, string]> = [
    [t.agent, agentName(summary.agent)],
    [t.model, summary.model],
    [t.runState, endText(t, summary)],
    ...(times === null ? [] : runTimes(t, times, locale)),
    [t.time, formatSeconds(summary.seconds)],
    [t.turns, `${summary.turns} · ${t.callCount(summary.calls)}`],
    [t.tokensName, tokensText(t, usage)],
  ];
  if (usage.cost !== null) figures.push([t.cost, costText(usage)]);
  return (
    <dl className="grid grid-cols-[auto_1fr] items-center gap-x-5 gap-y-1 rounded-xl border border-line bg-surface px-4 py-3 text-[13px]">
      {figures.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-faint">{name}</dt>
          <dd className="min-w-0 truncate tabular-nums">{value}</dd>
        </div>
      ))}
      <dt className="text-faint">{t.run}</dt>
      <dd className="flex min-w-0 items-center gap-1">
        <span className="truncate font-mono text-[12px]">{runId}</span>
        <CopyButton text={runId} />
      </dd>
    </dl>
  );
}
