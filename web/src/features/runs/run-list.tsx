import {
  CircleAlert,
  CircleCheck,
  CircleDashed,
  CirclePause,
  CircleSlash,
  MessageSquareText,
  Square,
} from "lucide-react";
import { useMemo, useState } from "react";
import type { ListedRun, RunChoices } from "@/protocol/listed-run";
import { formatCost, formatCount, formatMoment, formatSeconds } from "@/text/format";
import { LANGUAGES, useLanguage, useText } from "@/text/text";
import { useAgentName } from "@/ui/agent-name";
import { IconButton } from "@/ui/button";
import { type Column, DataTable } from "@/ui/data-table";
import { Confirm } from "@/ui/dialog";
import { Spinner } from "@/ui/spinner";

interface RunListProps {
  runs: readonly ListedRun[];
  choices: RunChoices;
  onOpen: (sessionId: string, messageId?: string) => void;
  onInspect: (runId: string) => void;
  onCancel: (runId: string) => Promise<void>;
}

/** Runs as a table where there is room for one, otherwise as a list. */
export function RunList({ runs, choices, onOpen, onInspect, onCancel }: RunListProps) {
  const t = useText();
  const [stopped, setStopped] = useState<ListedRun | null>(null);
  if (runs.length === 0) return <p className="py-2 text-[13px] text-faint">{t.noRunsFound}</p>;
  const actions = (run: ListedRun) => (
    <Actions run={run} isOwn={run.owner === choices.owner} onOpen={onOpen} onStop={() => setStopped(run)} />
  );
  return (
    <>
      <div className="hidden @3xl:block">
        <RunTable runs={runs} hasOwners={choices.owners.length > 1} actions={actions} onInspect={onInspect} />
      </div>
      <ul className="@3xl:hidden">
        {runs.map((run) => (
          <RunItem
            key={run.id}
            run={run}
            owner={choices.owners.length > 1 ? run.owner : ""}
            actions={actions(run)}
            onInspect={() => onInspect(run.id)}
          />
        ))}
      </ul>
      {stopped === null ? null : (
        <Confirm
          title={t.stopRunQuestion}
          action={t.stopRun}
          isDanger
          onConfirm={() => onCancel(stopped.id)}
          onClose={() => setStopped(null)}
        >
          {stopped.title ?? t.withoutChat}
        </Confirm>
      )}
    </>
  );
}

interface RunTableProps {
  runs: readonly ListedRun[];
  hasOwners: boolean;
  actions: (run: ListedRun) => React.ReactNode;
  onInspect: (runId: string) => void;
}

function RunTable({ runs, hasOwners, actions, onInspect }: RunTableProps) {
  const t = useText();
  const locale = LANGUAGES[useLanguage()].locale;
  const agentName = useAgentName();
  const columns = useMemo(() => {
    const all: (Column<ListedRun> | null)[] = [
      { key: "title", title: t.chatTitle, value: titleOf(t.withoutChat), draw: (run) => <Title run={run} /> },
      hasOwners ? { key: "owner", title: t.owner, value: (run) => run.owner } : null,
      { key: "agent", title: t.agent, value: (run) => agentName(run.agent) },
      { key: "model", title: t.model, value: (run) => run.model, draw: (run) => <ModelName name={run.model} /> },
      { key: "cost", title: t.cost, align: "right", value: (run) => costOf(run) },
      { key: "tokens", title: t.tokensName, align: "right", value: (run) => tokensOf(run) },
      {
        key: "duration",
        title: t.time,
        align: "right",
        value: (run) => run.duration,
        draw: (run) => <span className="whitespace-nowrap">{formatSeconds(run.duration)}</span>,
      },
      {
        key: "started",
        title: t.started,
        align: "right",
        value: (run) => run.createdAt,
        draw: (run) => <span className="whitespace-nowrap">{formatMoment(run.createdAt, locale)}</span>,
      },
      { key: "actions", title: "", align: "right", value: () => "", draw: actions },
    ];
    return all.filter((column) => column !== null).map((column) => ({ ...column, isSortable: false }));
  }, [t, locale, hasOwners, actions, agentName]);
  return (
    <DataTable
      label={t.panelTitles.runs}
      columns={columns}
      rows={runs}
      rowKey={(run) => run.id}
      limit={Number.POSITIVE_INFINITY}
      onOpen={(run) => onInspect(run.id)}
      isFramed={false}
    />
  );
}

function Title({ run }: { run: ListedRun }) {
  const t = useText();
  return (
    <span className="flex max-w-80 items-start gap-2">
      <StateMark run={run} />
      <span className="line-clamp-2 min-w-0">{run.title ?? t.withoutChat}</span>
    </span>
  );
}

interface RunItemProps {
  run: ListedRun;
  /** Empty if all runs have the same. */
  owner: string;
  actions: React.ReactNode;
  onInspect: () => void;
}

function RunItem({ run, owner, actions, onInspect }: RunItemProps) {
  const t = useText();
  const locale = LANGUAGES[useLanguage()].locale;
  const agentName = useAgentName();
  const facts = [
    owner,
    agentName(run.agent),
    costOf(run),
    formatSeconds(run.duration),
    formatMoment(run.createdAt, locale),
  ];
  return (
    <li className="flex items-start gap-2 border-t border-line py-2.5 first:border-t-0">
      <button type="button" onClick={onInspect} className="flex min-w-0 flex-1 items-start gap-2.5 text-left">
        <StateMark run={run} />
        <span className="min-w-0 flex-1">
          <span className="line-clamp-2 text-[14px] font-medium">{run.title ?? t.withoutChat}</span>
          <span className="block text-[12.5px] text-soft tabular-nums">{facts.filter(Boolean).join(" · ")}</span>
        </span>
      </button>
      {actions}
    </li>
  );
}

interface ActionsProps {
  run: ListedRun;
  isOwn: boolean;
  onOpen: (sessionId: string, messageId?: string) => void;
  onStop: () => void;
}

function Actions({ run, isOwn, onOpen, onStop }: ActionsProps) {
  const t = useText();
  const { sessionId, messageId } = run;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: keeps clicks on its buttons from opening the row
    <span className="-my-1 flex justify-end" onClick={(event) => event.stopPropagation()}>
      {run.state === "ended" ? null : (
        <IconButton label={t.stopRun} onClick={onStop}>
          <Square size={13} />
        </IconButton>
      )}
      {sessionId === null || !isOwn ? null : (
        <IconButton label={t.openTheChat} onClick={() => onOpen(sessionId, messageId ?? undefined)}>
          <MessageSquareText size={15} />
        </IconButton>
      )}
    </span>
  );
}

/** The state of a run, and how it ended. */
function StateMark({ run }: { run: ListedRun }) {
  const t = useText();
  const name = run.state === "ended" ? (t.runReasons[run.reason ?? ""] ?? t.runStates.ended) : t.runStates[run.state];
  return (
    <span role="img" aria-label={name} title={name} className="mt-[3px] shrink-0">
      <Mark run={run} />
    </span>
  );
}

function Mark({ run }: { run: ListedRun }) {
  if (run.state === "running") return <Spinner />;
  if (run.state === "waiting") return <CirclePause size={15} className="text-warn" />;
  if (run.state === "queued") return <CircleDashed size={15} className="text-faint" />;
  if (run.reason === "goal") return <CircleCheck size={15} className="text-accent" />;
  if (run.reason === "cancelled") return <CircleSlash size={15} className="text-faint" />;
  return <CircleAlert size={15} className="text-danger" />;
}

function ModelName({ name }: { name: string }) {
  const [provider, ...rest] = name.split(":");
  return (
    <span title={name} className="block max-w-40 truncate">
      {rest.length > 0 ? rest.join(":") : provider}
    </span>
  );
}

function titleOf(fallback: string): (run: ListedRun) => string {
  return (run) => run.title ?? fallback;
}

function costOf(run: ListedRun): string {
  return run.cost === null ? "" : formatCost(run.cost);
}

function tokensOf({ state, inputTokens, outputTokens }: ListedRun): string {
  const tokens = inputTokens + outputTokens;
  return tokens === 0 && state !== "ended" ? "" : formatCount(tokens);
}
