import { TrendingUp } from "lucide-react";
import { useCallback, useEffect, useMemo } from "react";
import {
  EVERYTHING,
  MOST_EXPENSIVE_TODAY,
  queryOf,
  type RunFilter,
  readFilter,
  writeFilter,
} from "@/features/runs/filter";
import { FilterBar } from "@/features/runs/filter-bar";
import { RunList } from "@/features/runs/run-list";
import { RunListStore } from "@/features/runs/run-list-store";
import type { RunChoices, RunTotals } from "@/protocol/listed-run";
import { formatCost, formatCount } from "@/text/format";
import { useText } from "@/text/text";
import { keepAdminToken, reachAll } from "@/transport/admin";
import { cancelRun, listRunChoices, listRuns } from "@/transport/operation";
import { Button } from "@/ui/button";
import { Load } from "@/ui/load";
import { ErrorNotice } from "@/ui/notice";
import { PanelBody } from "@/ui/panel";
import { useStore } from "@/ui/store";

/** How often the list is read again while it is on screen, in milliseconds. */
const PAUSE = 4000;

interface RunsProps {
  /** The filter. */
  argument: string | null;
  onOpen: (sessionId: string, messageId?: string) => void;
  onInspect: (runId: string) => void;
  onFilter: (argument: string) => void;
  /** Says when a run of one's own has changed. */
  feed: { on: (type: "run", listener: () => void) => () => void };
}

/** The runs of all chats: what they do, what they cost, and which cost the most. */
export function RunsPanel(props: RunsProps) {
  const filter = useMemo(() => readFilter(props.argument), [props.argument]);
  const owner = filter.owner === "" ? null : "*";
  const load = useCallback(() => listRunChoices(owner), [owner]);
  useEffect(() => {
    reachAll(filter.owner !== "");
  }, [filter.owner]);
  return (
    <Load load={load} onToken={keepAdminToken}>
      {(choices) => <Runs filter={filter} choices={choices} {...props} />}
    </Load>
  );
}

function Runs({
  filter,
  choices,
  onOpen,
  onInspect,
  onFilter,
  feed,
}: RunsProps & { filter: RunFilter; choices: RunChoices }) {
  const t = useText();
  const store = useMemo(
    () => new RunListStore(() => queryOf(filter, Date.now()), { list: listRuns, cancel: cancelRun }),
    [filter],
  );
  const { runs, totals, hasMore, isLoading, error } = useStore(store);
  useUpToDate(store, feed);
  const change = (part: Partial<RunFilter>) => onFilter(writeFilter({ ...filter, ...part }));
  const button = (
    <Button
      className="shrink-0"
      onClick={() => onFilter(writeFilter({ ...EVERYTHING, owner: filter.owner, ...MOST_EXPENSIVE_TODAY }))}
    >
      <TrendingUp size={14} aria-hidden="true" /> {t.mostExpensiveToday}
    </Button>
  );
  return (
    <PanelBody hint={t.runsHint} actions={button}>
      <FilterBar filter={filter} choices={choices} onChange={change} />
      {totals === null ? null : <Totals totals={totals} />}
      {error === null ? null : (
        <ErrorNotice error={error}>
          <Button onClick={() => void store.refresh()}>{t.retry}</Button>
        </ErrorNotice>
      )}
      {runs === null ? null : (
        <RunList
          runs={runs}
          choices={choices}
          onOpen={onOpen}
          onInspect={onInspect}
          onCancel={(id) => store.cancel(id)}
        />
      )}
      {hasMore ? (
        <Button look="plain" className="mt-2" disabled={isLoading} onClick={() => void store.more()}>
          {t.moreRuns}
        </Button>
      ) : null}
    </PanelBody>
  );
}

function Totals({ totals }: { totals: RunTotals }) {
  const t = useText();
  const isUnpriced = totals.cost === 0 && totals.unpricedTokens > 0;
  return (
    <p role="status" className="flex flex-wrap gap-x-4 gap-y-0.5 py-2 text-[13px] text-soft tabular-nums">
      <span>{t.runCount(totals.runs)}</span>
      {isUnpriced ? null : <span>{t.totalCost(formatCost(totals.cost))}</span>}
      <span>{t.totalTokens(formatCount(totals.tokens))}</span>
      {totals.unpricedTokens > 0 ? (
        <span className="text-faint">{t.unpricedTokens(formatCount(totals.unpricedTokens))}</span>
      ) : null}
    </p>
  );
}

/** Reads the list now, when a run has changed, and every few seconds while the page is visible. */
function useUpToDate(store: RunListStore, feed: RunsProps["feed"]): void {
  useEffect(() => {
    void store.refresh();
    const look = () => {
      if (!document.hidden && !store.read().isLoading) void store.refresh();
    };
    const timer = setInterval(look, PAUSE);
    const leave = feed.on("run", look);
    return () => {
      clearInterval(timer);
      leave();
    };
  }, [store, feed]);
}
