import type { MessageMetadata } from "@/protocol/message";
import { useText } from "@/text/text";
import { Button } from "@/ui/button";
import { ErrorNotice } from "@/ui/notice";

/** How an answer ended, unless it ended normally, with the limit that it reached in words. */
export function Outcome({ metadata, onRetry }: { metadata: MessageMetadata | undefined; onRetry: () => void }) {
  const t = useText();
  const { reason, error, limit, notice, cut } = metadata ?? {};
  if (reason === "goal" && !limit && cut !== undefined)
    return <p className="text-[13.5px] text-faint">{t.cutAnswers[cut]}</p>;
  if (reason === undefined || (reason === "goal" && !limit)) return null;
  if (error?.message !== undefined) {
    return (
      <ErrorNotice error={Object.assign(new Error(error.message), { kind: error.type, hint: error.hint })}>
        <Button onClick={onRetry}>{t.retry}</Button>
      </ErrorNotice>
    );
  }
  const stopped = t.outcomes[limit || reason] ?? (limit || reason);
  return (
    <div className="text-[13.5px] text-faint">
      <p>{limit ? `${stopped} ${t.answeredAtLimit}` : stopped}</p>
      {notice !== undefined && <p className="whitespace-pre-line">{notice}</p>}
    </div>
  );
}
