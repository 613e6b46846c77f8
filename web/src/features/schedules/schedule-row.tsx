import { Pause, Play, RotateCw, Trash2 } from "lucide-react";
import { useState } from "react";
import { cronWords } from "@/features/schedules/cron-words";
import type { Schedule, Tick } from "@/protocol/schedule";
import { formatMoment, ownZone } from "@/text/format";
import { LANGUAGES, useLanguage, useText } from "@/text/text";
import { deleteSchedule, enableSchedule, runSchedule } from "@/transport/schedules";
import { useAgentName } from "@/ui/agent-name";
import { Button } from "@/ui/button";
import { Confirm } from "@/ui/dialog";
import { ErrorLine } from "@/ui/notice";
import { Row } from "@/ui/panel";

interface ScheduleRowProps {
  schedule: Schedule;
  onChange: () => Promise<void>;
  onOpen: (sessionId: string) => void;
  /** A run was started by hand. */
  onStarted: () => void;
}

export function ScheduleRow({ schedule, onChange, onOpen, onStarted }: ScheduleRowProps) {
  const t = useText();
  const { locale } = LANGUAGES[useLanguage()];
  const [isRemoving, setRemoving] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const agentName = useAgentName();
  const { id, isEnabled, isFromFile, nextAt, last } = schedule;
  const agent = agentName(schedule.agent);
  const name = schedule.title || schedule.message.split("\n")[0] || agent;
  const attempt = async (action: () => Promise<unknown>) => {
    setBusy(true);
    setError(null);
    try {
      await action();
      await onChange();
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  const words = cronWords(schedule.schedule, t, locale, ownZone());
  return (
    <Row title={name} detail={isFromFile ? `${agent}, ${t.fromAgentFile}` : agent}>
      <p title={schedule.schedule} className={words === null ? "font-mono text-[12.5px]" : ""}>
        {words ?? schedule.schedule}
      </p>
      <p className="tabular-nums">
        {isEnabled && nextAt !== null ? t.scheduleNext(formatMoment(nextAt, locale)) : t.schedulePaused}
      </p>
      {last === null ? null : <LastTick tick={last} onOpen={onOpen} />}
      {error === null ? null : <ErrorLine error={error} />}
      <fieldset disabled={isBusy} aria-label={name} className="mt-2 flex flex-wrap gap-2">
        <Button onClick={() => void attempt(() => runSchedule(id).then(onStarted))}>
          <Play size={13} aria-hidden="true" /> {t.runScheduleNow}
        </Button>
        <Button onClick={() => void attempt(() => enableSchedule(id, !isEnabled))}>
          {isEnabled ? <Pause size={13} aria-hidden="true" /> : <RotateCw size={13} aria-hidden="true" />}
          {isEnabled ? t.pauseSchedule : t.resumeSchedule}
        </Button>
        {isFromFile ? null : (
          <Button look="danger" onClick={() => setRemoving(true)}>
            <Trash2 size={13} aria-hidden="true" /> {t.remove}
          </Button>
        )}
      </fieldset>
      {isRemoving ? (
        <Confirm
          title={t.removeSchedule(name)}
          action={t.remove}
          isDanger
          onConfirm={() => attempt(() => deleteSchedule(id))}
          onClose={() => setRemoving(false)}
        >
          {t.removeScheduleHint}
        </Confirm>
      ) : null}
    </Row>
  );
}

function LastTick({ tick, onOpen }: { tick: Tick; onOpen: (sessionId: string) => void }) {
  const t = useText();
  const { locale } = LANGUAGES[useLanguage()];
  const { sessionId } = tick;
  const state = t.tickStates[tick.state];
  const text = `${t.scheduleLast(formatMoment(tick.at, locale))}${state === undefined ? "" : `${t.comma}${state}`}`;
  return (
    <p className={`tabular-nums ${tick.state === "failed" ? "text-danger" : ""}`}>
      {sessionId === null ? (
        text
      ) : (
        <button
          type="button"
          onClick={() => onOpen(sessionId)}
          className="text-left text-accent underline decoration-line-strong underline-offset-2 hover:decoration-accent"
        >
          {text}
        </button>
      )}
      {tick.detail === null ? null : <span className="block break-words">{tick.detail}</span>}
    </p>
  );
}
