import { useEffect, useMemo } from "react";
import type { RunQueue, ServiceProcess, Workers } from "@/protocol/operation";
import { formatMoment } from "@/text/format";
import { LANGUAGES, useLanguage, useText } from "@/text/text";
import { keepAdminToken } from "@/transport/admin";
import { listWorkers } from "@/transport/operation";
import { type Column, DataTable } from "@/ui/data-table";
import { Load } from "@/ui/load";
import { PanelBody } from "@/ui/panel";

/** How often the processes are read again, in milliseconds. */
const PAUSE = 5000;

/** The processes that do the work, and what waits for them. */
export function WorkersPanel() {
  return (
    <Load load={listWorkers} onToken={keepAdminToken}>
      {(workers, reload) => <Overview workers={workers} onStale={reload} />}
    </Load>
  );
}

function Overview({ workers, onStale }: { workers: Workers; onStale: () => Promise<void> }) {
  const t = useText();
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) void onStale();
    }, PAUSE);
    return () => clearInterval(timer);
  }, [onStale]);
  return (
    <PanelBody hint={t.workersHint}>
      <ul className="pb-6">
        {workers.processes.map((process) => (
          <ProcessRow key={process.id} process={process} isThis={process.id === workers.processId} />
        ))}
      </ul>
      <h3 className="pb-2 text-[14px] font-semibold">{t.queues}</h3>
      <Queues queues={workers.queues} />
    </PanelBody>
  );
}

function ProcessRow({ process, isThis }: { process: ServiceProcess; isThis: boolean }) {
  const t = useText();
  const locale = LANGUAGES[useLanguage()].locale;
  const role = t.processRoles[process.role] ?? process.role;
  const facts = [
    t.processSince(formatMoment(process.startedAt, locale)),
    process.queues.length > 0 ? t.processQueues(process.queues.join(", ")) : t.processTakesNoRuns,
    t.processSeen(formatMoment(process.seenAt, locale)),
  ];
  return (
    <li className="border-t border-line py-3 first:border-t-0">
      <div className="flex items-baseline gap-2.5">
        <span
          role="img"
          aria-label={process.isAlive ? t.processAlive : t.processGone}
          title={process.isAlive ? t.processAlive : t.processGone}
          className={`size-2 shrink-0 self-center rounded-full ${process.isAlive ? "bg-accent" : "bg-danger"}`}
        />
        <span className="min-w-0 flex-1 truncate text-[14px] font-medium">
          {t.processName(role, process.host, process.pid)}
          {isThis ? <span className="font-normal text-faint"> {t.thisProcess}</span> : null}
        </span>
        <span className="shrink-0 text-[13px] tabular-nums">{t.runsNow(process.runs)}</span>
      </div>
      <p className="mt-0.5 text-[13px] text-soft">
        {process.isAlive ? null : <span className="text-danger">{t.processGone} · </span>}
        {facts.join(" · ")}
      </p>
    </li>
  );
}

function Queues({ queues }: { queues: readonly RunQueue[] }) {
  const t = useText();
  const columns = useMemo(
    (): Column<RunQueue>[] => [
      { key: "name", title: t.queue, value: (queue) => queue.name },
      { key: "queued", title: t.runStates.queued, value: (queue) => queue.queued },
      { key: "working", title: t.runStates.running, value: (queue) => queue.working },
      { key: "waiting", title: t.runStates.waiting, value: (queue) => queue.waiting },
    ],
    [t],
  );
  return <DataTable label={t.queues} columns={columns} rows={queues} isFramed={false} empty={t.noQueues} />;
}
