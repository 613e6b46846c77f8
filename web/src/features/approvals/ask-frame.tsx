import { type ReactNode, useEffect, useRef, useState } from "react";
import { askPlaces } from "@/features/approvals/ask-places";
import { ErrorLine } from "@/ui/notice";

interface AskFrameProps {
  askId: string;
  label: string;
  /** What else waits, and the way there. */
  others?: ReactNode;
  /** Draws the ask; `send` sends an answer, once, and shows why it failed. */
  children: (send: (answer: () => Promise<void>) => void) => ReactNode;
}

/** The frame of an ask: it knows whether it is in sight, and sends the answer. */
export function AskFrame({ askId, label, others, children }: AskFrameProps) {
  const frame = useRef<HTMLFieldSetElement>(null);
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => (frame.current === null ? undefined : askPlaces.watch(askId, frame.current)), [askId]);
  const send = (answer: () => Promise<void>) => {
    if (isSending) return;
    setSending(true);
    setError(null);
    // At once: the ask may be gone before its answer is confirmed, and the focus with it.
    askPlaces.leave(askId);
    answer().catch((problem: unknown) => {
      setError(problem);
      setSending(false);
      askPlaces.keep(askId);
    });
  };
  return (
    <fieldset
      ref={frame}
      data-ask={askId}
      aria-busy={isSending}
      aria-label={label}
      className={`@container space-y-3 rounded-xl border border-line-strong bg-surface px-3.5 py-3 ${isSending ? "pointer-events-none opacity-60" : ""}`}
    >
      <div className="flex flex-wrap items-baseline justify-between gap-x-3">
        <p className="text-[13.5px] font-medium">{label}</p>
        {others}
      </div>
      {children(send)}
      {error === null ? null : <ErrorLine error={error} />}
    </fieldset>
  );
}
