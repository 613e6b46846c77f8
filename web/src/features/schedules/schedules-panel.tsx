import { Plus } from "lucide-react";
import { useEffect, useState } from "react";
import { ScheduleForm } from "@/features/schedules/schedule-form";
import { ScheduleRow } from "@/features/schedules/schedule-row";
import type { Schedule } from "@/protocol/schedule";
import { useText } from "@/text/text";
import { listSchedules } from "@/transport/schedules";
import { Button } from "@/ui/button";
import { Load } from "@/ui/load";
import { PanelBody } from "@/ui/panel";

/** How long after its time a run is expected to be listed, in milliseconds. */
const GRACE = 2000;
/** Longer timers overflow. */
const LONGEST = 86_400_000;

/** The schedules: when each agent starts by itself, and what came of the last time. */
export function SchedulesPanel({ onOpen, onStarted }: Pick<SchedulesProps, "onOpen" | "onStarted">) {
  return (
    <Load load={listSchedules}>
      {(schedules, reload) => (
        <Schedules schedules={schedules} onChange={reload} onOpen={onOpen} onStarted={onStarted} />
      )}
    </Load>
  );
}

interface SchedulesProps {
  schedules: Schedule[];
  onChange: () => Promise<void>;
  onOpen: (sessionId: string) => void;
  /** A run was started by hand. */
  onStarted: () => void;
}

function Schedules({ schedules, onChange, onOpen, onStarted }: SchedulesProps) {
  const t = useText();
  const [isAdding, setAdding] = useState(false);
  useEffect(() => {
    const wait = Math.min(...schedules.map(({ nextAt }) => nextAt ?? Number.POSITIVE_INFINITY)) - Date.now();
    if (wait > LONGEST) return;
    const timer = setTimeout(() => void onChange(), Math.max(0, wait) + GRACE);
    return () => clearTimeout(timer);
  }, [schedules, onChange]);
  const button = (
    <Button aria-expanded={isAdding} onClick={() => setAdding(!isAdding)} className="shrink-0">
      <Plus size={13} aria-hidden="true" /> {t.addSchedule}
    </Button>
  );
  const close = async () => {
    setAdding(false);
    await onChange();
  };
  return (
    <PanelBody hint={t.schedulesHint} actions={button}>
      {isAdding ? <ScheduleForm onAdded={() => void close()} onCancel={() => setAdding(false)} /> : null}
      <ul>
        {schedules.map((schedule) => (
          <ScheduleRow
            key={schedule.id}
            schedule={schedule}
            onChange={onChange}
            onOpen={onOpen}
            onStarted={onStarted}
          />
        ))}
      </ul>
      {schedules.length === 0 && !isAdding ? <p className="text-[13px] text-faint">{t.noSchedules}</p> : null}
    </PanelBody>
  );
}
