import { useEffect, useState } from "react";
import { cronWords } from "@/features/schedules/cron-words";
import { type AgentInfo, defaultFirst } from "@/protocol/catalog";
import type { NewSchedule } from "@/protocol/schedule";
import { ownZone } from "@/text/format";
import { LANGUAGES, titleIn, useLanguage, useText } from "@/text/text";
import { listAgents } from "@/transport/catalog";
import { addSchedule } from "@/transport/schedules";
import { Button } from "@/ui/button";
import { SelectField, TextField } from "@/ui/field";
import { ErrorLine } from "@/ui/notice";
import { Spinner } from "@/ui/spinner";

interface ScheduleFormProps {
  onAdded: () => void;
  onCancel: () => void;
}

/** A new schedule; the server checks it, and says what is wrong. */
export function ScheduleForm({ onAdded, onCancel }: ScheduleFormProps) {
  const t = useText();
  const { locale } = LANGUAGES[useLanguage()];
  const agents = useAgents();
  const [draft, setDraft] = useState<NewSchedule>({ agent: "", schedule: `0 9 * * 1-5 ${ownZone()}`, message: "" });
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const change = (part: Partial<NewSchedule>) => setDraft({ ...draft, ...part });
  const agent = draft.agent || agents[0]?.name || "";
  const isWhole = agent !== "" && draft.schedule.trim() !== "" && draft.message.trim() !== "";
  const send = async () => {
    setSending(true);
    setError(null);
    try {
      await addSchedule({ ...draft, agent });
      onAdded();
    } catch (problem) {
      setError(problem);
      setSending(false);
    }
  };
  return (
    <form
      aria-label={t.addSchedule}
      className="mb-3 space-y-3 rounded-xl border border-line bg-sunken p-3.5 text-[13px]"
      onSubmit={(event) => {
        event.preventDefault();
        if (isWhole) void send();
      }}
    >
      <SelectField
        name={t.agent}
        value={agent}
        choices={agents.map((one) => ({ value: one.name, name: titleIn(t, one.title) }))}
        onChange={(name) => change({ agent: name })}
      />
      <TextField
        name={t.scheduleField}
        hint={cronWords(draft.schedule, t, locale, ownZone()) ?? t.scheduleFieldHint}
        value={draft.schedule}
        isCode
        onChange={(schedule) => change({ schedule })}
      />
      <TextField name={t.message} rows={3} value={draft.message} onChange={(message) => change({ message })} />
      <TextField
        name={t.scheduleTitle}
        note={t.optional}
        value={draft.title ?? ""}
        onChange={(title) => change({ title })}
      />
      <SelectField
        name={t.scheduleMissed}
        value={draft.missed ?? "latest"}
        choices={[
          { value: "latest", name: t.missedLatest },
          { value: "skip", name: t.missedSkip },
        ]}
        onChange={(missed) => change({ missed: missed === "skip" ? "skip" : "latest" })}
      />
      {error === null ? null : <ErrorLine error={error} />}
      <div className="flex gap-2">
        <Button look="primary" type="submit" disabled={!isWhole || isSending}>
          {isSending ? <Spinner /> : null} {t.add}
        </Button>
        <Button look="plain" onClick={onCancel}>
          {t.cancel}
        </Button>
      </div>
    </form>
  );
}

/** The agents that can be chosen; empty until they are loaded. */
function useAgents(): AgentInfo[] {
  const [agents, setAgents] = useState<AgentInfo[]>([]);
  useEffect(() => {
    listAgents().then(
      (found) => setAgents(defaultFirst(found.agents)),
      () => setAgents([]),
    );
  }, []);
  return agents;
}
