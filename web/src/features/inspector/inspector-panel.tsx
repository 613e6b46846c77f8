import { useEffect, useState } from "react";
import { RunFigures } from "@/features/inspector/run-figures";
import { Timeline, type TimelineRow } from "@/features/inspector/timeline";
import { TimelineRowView, TurnMark } from "@/features/inspector/timeline-row";
import { useText } from "@/text/text";
import { readJournal } from "@/transport/runs";
import { Button } from "@/ui/button";
import { Notice } from "@/ui/notice";
import { PanelBody } from "@/ui/panel";
import { Spinner } from "@/ui/spinner";

/** The journal of a run, live while it goes on. */
export function InspectorPanel({ runId }: { runId: string | null }) {
  const t = useText();
  if (runId === null) {
    return (
      <PanelBody hint={t.inspectorHint}>
        <p className="text-[13px] text-faint">{t.noRun}</p>
      </PanelBody>
    );
  }
  return <Journal key={runId} runId={runId} />;
}

interface Shown {
  rows: readonly TimelineRow[];
  timeline: Timeline | null;
  error: Error | null;
}

function Journal({ runId }: { runId: string }) {
  const t = useText();
  const [attempt, setAttempt] = useState(0);
  const [shown, setShown] = useState<Shown>({ rows: [], timeline: null, error: null });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt reads the journal again
  useEffect(() => {
    const leave = new AbortController();
    const timeline = new Timeline();
    const follow = async () => {
      for await (const entries of readJournal(runId, 0, leave.signal)) {
        for (const entry of entries) timeline.add(entry);
        setShown({ rows: timeline.rows, timeline, error: null });
      }
    };
    follow().catch((error: unknown) => {
      if (!leave.signal.aborted) setShown((before) => ({ ...before, error: error as Error }));
    });
    return () => leave.abort();
  }, [runId, attempt]);

  const { rows, timeline, error } = shown;
  return (
    <PanelBody hint={t.inspectorHint}>
      {error ? (
        <Notice title={error.message}>
          <Button onClick={() => setAttempt(attempt + 1)}>{t.retry}</Button>
        </Notice>
      ) : null}
      {timeline === null && error === null ? (
        <p role="status" className="flex items-center gap-2.5 text-[13px] text-faint">
          <Spinner /> {t.loading}
        </p>
      ) : null}
      {timeline === null ? null : (
        <>
          <RunFigures runId={runId} summary={timeline.summary} />
          <ol className="mt-3">
            {rows.map((row) =>
              row.kind === "turn" ? (
                <TurnMark key={row.key} row={row} />
              ) : (
                <TimelineRowView key={row.key} row={row} total={timeline.summary.seconds} />
              ),
            )}
          </ol>
        </>
      )}
    </PanelBody>
  );
}
