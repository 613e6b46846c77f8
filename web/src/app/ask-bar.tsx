import { Hand, X } from "lucide-react";
import { askWords } from "@/app/call-ask";
import { useServices } from "@/app/services";
import { askPlaces } from "@/features/approvals/ask-places";
import { useWaiting } from "@/features/chat/use-waiting";
import type { Ask } from "@/protocol/ask";
import { useText } from "@/text/text";
import { Button, IconButton } from "@/ui/button";
import { useStore } from "@/ui/store";

const LOOK = "flex min-h-9 items-center gap-2 rounded-2xl border border-line bg-surface py-1 pr-1.5 pl-3.5 text-[13px]";

/** Above the composer: what waits for the user and is out of sight, and what was just always allowed. */
export function AskBar() {
  const { inSight } = useStore(askPlaces);
  const hidden = useWaiting().filter((ask) => !inSight.has(ask.id));
  return (
    <>
      <AlwaysNote />
      {hidden[0] === undefined ? null : <HiddenAsks asks={hidden} first={hidden[0]} />}
    </>
  );
}

function HiddenAsks({ asks, first }: { asks: readonly Ask[]; first: Ask }) {
  const t = useText();
  const title = askWords(first, t);
  const words =
    asks.length === 1 && first.kind === "question" ? t.waitingQuestion(title) : t.waitingCalls(asks.length, title);
  return (
    <section aria-label={words} className={LOOK}>
      <Hand size={15} aria-hidden="true" className="shrink-0 text-warn" />
      <span role="status" className="min-w-0 flex-1 truncate">
        {words}
      </span>
      <Button look="plain" onClick={() => void askPlaces.focus(first.id)}>
        {t.toWaiting}
      </Button>
    </section>
  );
}

function AlwaysNote() {
  const t = useText();
  const { always } = useServices();
  const { allowed, state } = useStore(always);
  if (allowed === null) return null;
  const words = {
    allowed: t.nowAlways(allowed.title),
    undoing: t.nowAlways(allowed.title),
    undone: t.undone,
    failed: t.undoFailed,
  };
  return (
    <div className={LOOK}>
      <span role="status" className="min-w-0 flex-1 truncate" title={words[state]}>
        {words[state]}
      </span>
      {state === "undone" ? null : (
        <Button look="plain" disabled={state === "undoing"} onClick={() => void always.undo()}>
          {t.undo}
        </Button>
      )}
      <IconButton label={t.close} onClick={() => always.dismiss()}>
        <X size={15} />
      </IconButton>
    </div>
  );
}
