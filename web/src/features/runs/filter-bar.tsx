import { Search, X } from "lucide-react";
import { useEffect, useState } from "react";
import { EVERYTHING, PERIODS, type RunFilter } from "@/features/runs/filter";
import { RUN_SORTS, RUN_STATES, type RunChoices } from "@/protocol/listed-run";
import { useText } from "@/text/text";
import { useAgentName } from "@/ui/agent-name";
import { Button } from "@/ui/button";
import { FIELD_LOOK } from "@/ui/field";

/** How long typing pauses before the list is searched, in milliseconds. */
const PAUSE = 350;

interface FilterBarProps {
  filter: RunFilter;
  choices: RunChoices;
  onChange: (change: Partial<RunFilter>) => void;
}

/** What is listed, and in which order. */
export function FilterBar({ filter, choices, onChange }: FilterBarProps) {
  const t = useText();
  const agentName = useAgentName();
  const agents = choices.agents.map((name) => ({ value: name, name: agentName(name) }));
  const models = choices.models.map((name) => ({ value: name, name }));
  const states = [
    { value: "", name: t.anyState },
    { value: "open", name: t.openRuns },
    ...RUN_STATES.map((state) => ({ value: state, name: t.runStates[state] })),
    ...Object.entries(t.runReasons).map(([value, name]) => ({ value, name })),
  ];
  const isFiltered = Object.entries(EVERYTHING).some(([name, value]) => filter[name as keyof RunFilter] !== value);
  return (
    <search aria-label={t.filterRuns} className="flex flex-wrap items-center gap-2 pb-1">
      <SearchField value={filter.query} onChange={(query) => onChange({ query })} />
      <Choice
        name={t.sortRuns}
        value={filter.sort}
        choices={RUN_SORTS.map((sort) => ({ value: sort, name: t.runSorts[sort] }))}
        onChange={(sort) => onChange({ sort: sort as RunFilter["sort"] })}
      />
      <Choice
        name={t.period}
        value={filter.period}
        choices={PERIODS.map((period) => ({ value: period, name: t.runPeriods[period] }))}
        onChange={(period) => onChange({ period: period as RunFilter["period"] })}
      />
      <Choice
        name={t.runState}
        value={filter.reason === "" ? filter.state : filter.reason}
        choices={states}
        onChange={(state) =>
          onChange(
            state in t.runReasons ? { state: "", reason: state } : { state: state as RunFilter["state"], reason: "" },
          )
        }
      />
      <Choice
        name={t.agent}
        value={filter.agent}
        choices={[{ value: "", name: t.anyAgent }, ...agents]}
        onChange={(agent) => onChange({ agent })}
      />
      <Choice
        name={t.model}
        value={filter.model}
        choices={[{ value: "", name: t.anyModel }, ...models]}
        onChange={(model) => onChange({ model })}
      />
      <OwnerChoice filter={filter} choices={choices} onChange={onChange} />
      {isFiltered ? (
        <Button look="plain" onClick={() => onChange(EVERYTHING)}>
          <X size={13} aria-hidden="true" /> {t.reset}
        </Button>
      ) : null}
    </search>
  );
}

function OwnerChoice({ filter, choices, onChange }: FilterBarProps) {
  const t = useText();
  const others = choices.owners.filter((name) => name !== choices.owner);
  // A server without API keys has one owner.
  if (choices.owner === "local") return null;
  return (
    <Choice
      name={t.owner}
      isAlways
      value={filter.owner}
      choices={[
        { value: "", name: t.ownRuns },
        { value: "*", name: t.allOwners },
        ...others.map((name) => ({ value: name, name })),
      ]}
      onChange={(owner) => onChange({ owner })}
    />
  );
}

interface ChoiceProps {
  name: string;
  value: string;
  choices: readonly { value: string; name: string }[];
  onChange: (value: string) => void;
  /** Whether it is there even if only one choice restricts. */
  isAlways?: boolean;
}

function Choice({ name, value, choices, onChange, isAlways = false }: ChoiceProps) {
  if (choices.length < 3 && value === "" && !isAlways) return null;
  const known = choices.some((choice) => choice.value === value) ? choices : [...choices, { value, name: value }];
  return (
    <select
      aria-label={name}
      title={name}
      value={value}
      onChange={(event) => onChange(event.target.value)}
      className={`h-8 max-w-46 rounded-lg border bg-surface px-2 text-[13px] focus:border-line-strong ${value === "" || value === "all" || value === "time" ? "border-line text-soft" : "border-line-strong text-ink"}`}
    >
      {known.map((choice) => (
        <option key={choice.value} value={choice.value}>
          {choice.name}
        </option>
      ))}
    </select>
  );
}

/** Searches when typing pauses. */
function SearchField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const t = useText();
  const [typed, setTyped] = useState(value);
  useEffect(() => {
    if (typed === value) return;
    const timer = setTimeout(() => onChange(typed), PAUSE);
    return () => clearTimeout(timer);
  }, [typed, value, onChange]);
  return (
    <label className="relative min-w-40 flex-1">
      <Search size={14} aria-hidden="true" className="absolute top-2.25 left-2.5 text-faint" />
      <input
        aria-label={t.searchRuns}
        placeholder={t.searchRuns}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        className={`${FIELD_LOOK} h-8 pl-8`}
      />
    </label>
  );
}
