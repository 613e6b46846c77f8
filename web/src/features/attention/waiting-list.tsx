import { ArrowUpRight, CircleHelp, ShieldQuestion } from "lucide-react";
import { useState } from "react";
import { wordsOf } from "@/features/attention/waiting-store";
import type { WaitingAsk } from "@/protocol/feed";
import { formatAge } from "@/text/format";
import { LANGUAGES, useLanguage, useText } from "@/text/text";
import { useAgentName } from "@/ui/agent-name";
import { Button } from "@/ui/button";
import { ErrorLine } from "@/ui/notice";

interface WaitingListProps {
  asks: readonly WaitingAsk[];
  onAnswer: (ask: WaitingAsk, isApproved: boolean) => Promise<void>;
  onOpen: (ask: WaitingAsk) => void;
}

/** What waits over all chats, oldest first; approvals can be answered right here. */
export function WaitingList({ asks, onAnswer, onOpen }: WaitingListProps) {
  const t = useText();
  if (asks.length === 0) {
    return (
      <p role="status" className="px-4 py-3.5 text-[13px] text-soft">
        {t.nothingWaits}
      </p>
    );
  }
  return (
    <ul className="divide-y divide-line">
      {asks.map((ask) => (
        <WaitingRow key={ask.id} ask={ask} onAnswer={(isApproved) => onAnswer(ask, isApproved)} onOpen={onOpen} />
      ))}
    </ul>
  );
}

interface WaitingRowProps {
  ask: WaitingAsk;
  onAnswer: (isApproved: boolean) => Promise<void>;
  onOpen: (ask: WaitingAsk) => void;
}

function WaitingRow({ ask, onAnswer, onOpen }: WaitingRowProps) {
  const t = useText();
  const { locale } = LANGUAGES[useLanguage()];
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const agentName = useAgentName();
  const subject = wordsOf(ask, t);
  const Icon = ask.kind === "approval" ? ShieldQuestion : CircleHelp;
  const answer = (isApproved: boolean) => {
    setBusy(true);
    setError(null);
    onAnswer(isApproved).catch((problem: unknown) => {
      setError(problem);
      setBusy(false);
    });
  };
  return (
    <li className="space-y-2.5 px-4 py-3.5">
      <button
        type="button"
        onClick={() => onOpen(ask)}
        title={t.openTheChat}
        className="group flex w-full items-start gap-2.5 rounded-lg text-left"
      >
        <Icon size={16} aria-hidden="true" className="mt-0.5 shrink-0 text-accent" />
        <span className="min-w-0 flex-1">
          <span className="line-clamp-2 text-[13.5px] font-medium break-words">{subject}</span>
          <span className="mt-0.5 block truncate text-[12.5px] text-soft">{ask.chatTitle || t.untitled}</span>
          <span className="block text-[12px] text-faint">
            {t.askedSince(ask.agent === "" ? "" : agentName(ask.agent), formatAge(ask.since, locale))}
          </span>
        </span>
        <ArrowUpRight size={15} aria-hidden="true" className="mt-0.5 shrink-0 text-faint group-hover:text-ink" />
      </button>
      {ask.kind === "approval" ? (
        <div className="flex gap-2 pl-6.5">
          {ask.changesFile ? (
            <Button look="primary" aria-label={t.seeAsk(subject)} onClick={() => onOpen(ask)}>
              {t.seeChange}
            </Button>
          ) : (
            <Button look="primary" disabled={isBusy} aria-label={t.allowAsk(subject)} onClick={() => answer(true)}>
              {t.allow}
            </Button>
          )}
          <Button disabled={isBusy} aria-label={t.declineAsk(subject)} onClick={() => answer(false)}>
            {t.decline}
          </Button>
        </div>
      ) : null}
      {error === null ? null : (
        <div className="pl-6.5">
          <ErrorLine error={error} />
        </div>
      )}
    </li>
  );
}
