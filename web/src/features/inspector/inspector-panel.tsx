import { useEffect, useMemo, useState } from "react";
import { RunFigures } from "@/features/inspector/run-figures";
import { summarize } from "@/features/inspector/summary";
import { rowsOf } from "@/features/inspector/timeline";
import { TimelineRowView, TurnMark } from "@/features/inspector/timeline-row";
import type { Runs } from "@/protocol/run";
import { foldEntry } from "@/protocol/run-fold";
import { useText } from "@/text/text";
import { readJournal } from "@/transport/runs";
import { Button } from "@/ui/button";
import { ErrorNotice } from "@/ui/notice";
import { PanelBody } from "@/ui/panel";
import { Spinner } from "@/ui/spinner";

/** The journal of a run, live while the run lasts. */
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
  runs: Runs;
  error: Error | null;
}

function Journal({ runId }: { runId: string }) {
  const t = useText();
  const [attempt, setAttempt] = useState(0);
  const [{ runs, error }, setShown] = useState<Shown>({ runs: {}, error: null });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt reads the journal again
  useEffect(() => {
    const leave = new AbortController();
    const follow = async () => {
      let read: Runs = {};
      for await (const entries of readJournal(runId, 0, leave.signal)) {
        read = entries.reduce(foldEntry, read);
        setShown({ runs: read, error: null });
      }
    };
    follow().catch((error: unknown) => {
      if (!leave.signal.aborted) setShown((before) => ({ ...before, error: error as Error }));
    });
    return () => leave.abort();
  }, [runId, attempt]);

  const rows = useMemo(() => rowsOf(runs), [runs]);
  const summary = useMemo(() => summarize(runs), [runs]);
  return (
    <PanelBody hint={t.inspectorHint}>
      {error ? (
        <ErrorNotice error={error}>
          <Button onClick={() => setAttempt(attempt + 1)}>{t.retry}</Button>
        </ErrorNotice>
      ) : null}
      {summary === null && error === null ? (
        <p role="status" className="flex items-center gap-2.5 text-[13px] text-faint">
          <Spinner /> {t.loading}
        </p>
      ) : null}
      {summary === null ? null : (
        <>
          <RunFigures runId={runId} summary={summary} />
          <ol className="mt-3">
            {rows.map((row) =>
              row.kind === "turn" ? (
                <TurnMark key={row.key} row={row} />
              ) : (
                <TimelineRowView key={row.key} row={row} total={summary.seconds} />
              ),
            )}
          </ol>
        </>
      )}
    </PanelBody>
  );
}
