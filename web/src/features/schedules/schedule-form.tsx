import { type ReactNode, useEffect, useId, useState } from "react";
import { cronWords } from "@/features/schedules/cron-words";
import { type AgentInfo, defaultFirst } from "@/protocol/catalog";
import type { NewSchedule } from "@/protocol/schedule";
import { ownZone } from "@/text/format";
import { LANGUAGES, useLanguage, useText } from "@/text/text";
import { listAgents } from "@/transport/catalog";
import { ServerError } from "@/transport/http";
import { addSchedule } from "@/transport/schedules";
import { Button } from "@/ui/button";
import { Spinner } from "@/ui/spinner";

const LOOK = "w-full rounded-lg border border-line bg-surface px-2.5 text-[13px] focus:border-line-strong";

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
  const [error, setError] = useState<Error | null>(null);
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
      setError(problem instanceof Error ? problem : new Error(String(problem)));
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
      <Field name={t.agent}>
        {(id) => (
          <select
            id={id}
            value={agent}
            onChange={(event) => change({ agent: event.target.value })}
            className={`${LOOK} h-8`}
          >
            {agents.map((one) => (
              <option key={one.name} value={one.name}>
                {one.title}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field name={t.scheduleField} hint={cronWords(draft.schedule, t, locale, ownZone()) ?? t.scheduleFieldHint}>
        {(id, hintId) => (
          <input
            id={id}
            aria-describedby={hintId}
            value={draft.schedule}
            spellCheck={false}
            onChange={(event) => change({ schedule: event.target.value })}
            className={`${LOOK} h-8 font-mono`}
          />
        )}
      </Field>
      <Field name={t.message}>
        {(id) => (
          <textarea
            id={id}
            rows={3}
            value={draft.message}
            onChange={(event) => change({ message: event.target.value })}
            className={`${LOOK} py-1.5`}
          />
        )}
      </Field>
      <Field name={t.scheduleTitle} note={t.optional}>
        {(id) => (
          <input
            id={id}
            value={draft.title ?? ""}
            onChange={(event) => change({ title: event.target.value })}
            className={`${LOOK} h-8`}
          />
        )}
      </Field>
      <Field name={t.scheduleMissed}>
        {(id) => (
          <select
            id={id}
            value={draft.missed ?? "latest"}
            onChange={(event) => change({ missed: event.target.value === "skip" ? "skip" : "latest" })}
            className={`${LOOK} h-8`}
          >
            <option value="latest">{t.missedLatest}</option>
            <option value="skip">{t.missedSkip}</option>
          </select>
        )}
      </Field>
      {error ? (
        <div role="alert" className="break-words text-danger">
          <p>{error.message}</p>
          {error instanceof ServerError && error.hint ? <p className="text-soft">{error.hint}</p> : null}
        </div>
      ) : null}
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

interface FieldProps {
  name: string;
  /** Shown after the name. */
  note?: string;
  /** Shown below the field. */
  hint?: string;
  children: (id: string, hintId: string) => ReactNode;
}

function Field({ name, note, hint, children }: FieldProps) {
  const id = useId();
  const hintId = useId();
  return (
    <div>
      <label htmlFor={id} className="mb-1 flex items-baseline gap-2 text-[12.5px]">
        {name} {note ? <span className="text-faint">{note}</span> : null}
      </label>
      {children(id, hintId)}
      {hint ? (
        <p id={hintId} className="mt-0.5 text-[12px] text-faint">
          {hint}
        </p>
      ) : null}
    </div>
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
