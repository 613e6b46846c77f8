import type { MessageMetadata } from "@/protocol/message";
import { useText } from "@/text/text";
import { Button } from "@/ui/button";
import { Notice } from "@/ui/notice";

/** How an answer ended, unless it ended normally, with the limit that it reached in words. */
export function Outcome({ metadata, onRetry }: { metadata: MessageMetadata | undefined; onRetry: () => void }) {
  const t = useText();
  const { reason, error, limit, notice } = metadata ?? {};
  if (reason === undefined || (reason === "goal" && !limit)) return null;
  if (error?.message !== undefined) {
    return (
      <Notice title={error.message} hint={error.hint ?? null}>
        <Button onClick={onRetry}>{t.retry}</Button>
      </Notice>
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
