import { ArrowLeft, Bot, CalendarClock } from "lucide-react";
import { openChat } from "@/app/route";
import { useOrigin } from "@/features/chat/use-chat";
import { formatMoment } from "@/text/format";
import { LANGUAGES, useLanguage, useText } from "@/text/text";
import { useAgentName } from "@/ui/agent-name";
import { Button } from "@/ui/button";

/** Where a chat comes from that no person has started, and the way back. */
export function OriginBar({ onSchedules }: { onSchedules: () => void }) {
  const t = useText();
  const { locale } = LANGUAGES[useLanguage()];
  const { origin, parentId } = useOrigin();
  const agentName = useAgentName();
  if (origin === null && parentId === null) return null;
  const isScheduled = origin?.kind === "schedule";
  const Sign = isScheduled ? CalendarClock : Bot;
  return (
    <nav aria-label={t.origin} className="mx-auto flex w-full max-w-180 items-center gap-2 px-4 text-[13px] text-soft">
      {parentId === null ? null : (
        <Button look="plain" className="-ml-2 shrink-0" onClick={() => openChat(parentId)}>
          <ArrowLeft size={14} aria-hidden="true" /> {t.backToChat}
        </Button>
      )}
      <Sign size={15} className="shrink-0 text-faint" aria-hidden="true" />
      <span className="min-w-0 flex-1 truncate">
        {isScheduled
          ? t.startedBySchedule(formatMoment(origin.tickAt, locale))
          : t.startedInBackground(origin?.kind === "background" ? agentName(origin.agent) : "")}
      </span>
      {isScheduled ? (
        <Button look="plain" className="shrink-0" onClick={onSchedules}>
          {t.schedules}
        </Button>
      ) : null}
    </nav>
  );
}
