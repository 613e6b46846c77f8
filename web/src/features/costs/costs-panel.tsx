import { useCallback, useMemo, useState } from "react";
import { Limits } from "@/features/costs/limits";
import { COST_PERIODS, type CostPeriod, daysOf, fillDays, writeDay } from "@/features/costs/period";
import { UsageTable } from "@/features/costs/usage-table";
import type { RunChoices } from "@/protocol/listed-run";
import type { Today, Usage, UsageBy } from "@/protocol/operation";
import { formatCost, formatCount } from "@/text/format";
import { LANGUAGES, useLanguage, useText } from "@/text/text";
import { keepAdminToken } from "@/transport/admin";
import { listRunChoices, readToday, readUsage } from "@/transport/operation";
import { Chart } from "@/ui/chart";
import { Load } from "@/ui/load";
import { PanelBody } from "@/ui/panel";

interface Costs {
  choices: RunChoices;
  today: Today;
  usage: Record<UsageBy, Usage>;
}

interface CostsProps {
  /** Lists the runs of a model, an agent or an owner. */
  onRuns: (filter: Record<string, string>) => void;
}

/** What the models cost: by day, model, agent and owner, and today against its limits. */
export function CostsPanel({ onRuns }: CostsProps) {
  const [period, setPeriod] = useState<CostPeriod>("30");
  const [owner, setOwner] = useState<string | null>(null);
  const load = useCallback(() => loadCosts(period, owner), [period, owner]);
  return (
    <Load load={load} onToken={keepAdminToken}>
      {(costs) => (
        <Overview costs={costs} period={period} owner={owner} onPeriod={setPeriod} onOwner={setOwner} onRuns={onRuns} />
      )}
    </Load>
  );
}

async function loadCosts(period: CostPeriod, owner: string | null): Promise<Costs> {
  const { first, last } = daysOf(period, Date.now());
  const read = (by: UsageBy) => readUsage(by, first, last, owner);
  const [choices, today, day, model, agent, byOwner] = await Promise.all([
    listRunChoices(owner),
    readToday(owner),
    read("day"),
    read("model"),
    read("agent"),
    read("owner"),
  ]);
  return { choices, today, usage: { day, model, agent, owner: byOwner } };
}

interface OverviewProps extends CostsProps {
  costs: Costs;
  period: CostPeriod;
  owner: string | null;
  onPeriod: (period: CostPeriod) => void;
  onOwner: (owner: string | null) => void;
}

function Overview({ costs, period, owner, onPeriod, onOwner, onRuns }: OverviewProps) {
  const t = useText();
  const { choices, today, usage } = costs;
  // A server without API keys has one owner.
  const hasOwners = choices.owner !== "local";
  const look = "h-8 rounded-lg border border-line bg-surface px-2 text-[13px]";
  const actions = (
    <div className="flex flex-wrap justify-end gap-2">
      {hasOwners ? (
        <select
          aria-label={t.owner}
          value={owner ?? ""}
          onChange={(event) => onOwner(event.target.value || null)}
          className={look}
        >
          <option value="">{t.ownRuns}</option>
          <option value="*">{t.allOwners}</option>
        </select>
      ) : null}
      <select
        aria-label={t.period}
        value={period}
        onChange={(event) => onPeriod(event.target.value as CostPeriod)}
        className={look}
      >
        {COST_PERIODS.map((one) => (
          <option key={one} value={one}>
            {t.costPeriods[one]}
          </option>
        ))}
      </select>
    </div>
  );
  const scope = owner === null ? {} : { owner };
  return (
    <PanelBody hint={t.costsHint} actions={actions}>
      <Figures today={today} total={usage.day.total} />
      <Limits limits={today.limits} />
      <Days usage={usage.day} />
      <Unpriced usage={usage} />
      <UsageTable title={t.byModel} rows={usage.model.rows} onOpen={(model) => onRuns({ ...scope, model })} />
      <UsageTable title={t.byAgent} rows={usage.agent.rows} isAgent onOpen={(agent) => onRuns({ ...scope, agent })} />
      {owner === null ? null : (
        <UsageTable title={t.byOwner} rows={usage.owner.rows} onOpen={(name) => onRuns({ owner: name })} />
      )}
    </PanelBody>
  );
}

function Figures({ today, total }: { today: Today; total: Usage["total"] }) {
  const t = useText();
  const figures = [
    { name: t.spentToday, value: costText(today.total.cost, t.priceUnknown) },
    { name: t.spentInPeriod, value: costText(total.cost, t.priceUnknown) },
    { name: t.tokensName, value: formatCount(total.inputTokens + total.outputTokens) },
    { name: t.panelTitles.runs, value: formatCount(total.runs) },
  ];
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-4 pb-5 @2xl:grid-cols-4">
      {figures.map(({ name, value }) => (
        <div key={name}>
          <dt className="text-[12.5px] text-faint">{name}</dt>
          <dd className="text-[22px] leading-tight font-medium tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Days({ usage }: { usage: Usage }) {
  const t = useText();
  const locale = LANGUAGES[useLanguage()].locale;
  const [what, setWhat] = useState<"cost" | "tokens">(usage.total.cost === null ? "tokens" : "cost");
  const days = useMemo(() => fillDays(usage.rows, usage.first, usage.last), [usage]);
  const labels = useMemo(() => days.map(({ key }) => writeDay(key, locale)), [days, locale]);
  const series = useMemo(
    () =>
      what === "cost"
        ? [{ name: t.cost, values: days.map(({ cost }) => cost ?? 0) }]
        : [
            { name: t.inputTokens, values: days.map(({ inputTokens }) => inputTokens) },
            { name: t.outputTokens, values: days.map(({ outputTokens }) => outputTokens) },
          ],
    [what, days, t],
  );
  return (
    <section aria-label={t.byDay} className="pb-6">
      <header className="flex items-center gap-1 pb-3">
        <h3 className="flex-1 text-[14px] font-semibold">{t.byDay}</h3>
        {(["cost", "tokens"] as const).map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={what === one}
            onClick={() => setWhat(one)}
            className="h-7 rounded-lg px-2.5 text-[12.5px] text-soft hover:bg-raised aria-pressed:bg-raised aria-pressed:font-medium aria-pressed:text-ink"
          >
            {one === "cost" ? t.cost : t.tokensName}
          </button>
        ))}
      </header>
      <Chart
        kind="bar"
        label={what === "cost" ? t.costByDay : t.tokensByDay}
        labels={labels}
        series={series}
        isStacked
        format={what === "cost" ? formatCost : formatCount}
      />
    </section>
  );
}

/** Says which models cost more than is shown. */
function Unpriced({ usage }: { usage: Record<UsageBy, Usage> }) {
  const t = useText();
  const tokens = usage.day.total.unpricedTokens;
  if (tokens === 0) return null;
  const models = usage.model.rows.filter((row) => row.unpricedTokens > 0).map((row) => row.key || t.noModel);
  return (
    <p className="mb-5 rounded-xl bg-warn-soft px-4 py-3 text-[13px]">
      {t.unpricedHint(formatCount(tokens), models.join(", "))}
    </p>
  );
}

function costText(cost: number | null, unknown: string): string {
  return cost === null ? unknown : formatCost(cost);
}
