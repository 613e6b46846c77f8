import type { MessageMetadata } from "@/protocol/message";
import { type Text, useText } from "@/text/text";
import { Button } from "@/ui/button";
import { ErrorNotice } from "@/ui/notice";

/** How an answer ended, unless it ended normally, with the limit that it reached in words. */
export function Outcome({ metadata, onRetry }: { metadata: MessageMetadata | undefined; onRetry: () => void }) {
  const t = useText();
  const { error, notice } = metadata ?? {};
  const end = describeEnd(metadata ?? {}, t);
  if (end === null) return null;
  if (error?.message !== undefined) {
    const { type: kind, hint, remedy } = error;
    return (
      <ErrorNotice error={Object.assign(new Error(error.message), { kind, hint, remedy })}>
        <Button onClick={onRetry}>{t.retry}</Button>
      </ErrorNotice>
    );
  }
  return (
    <div className="text-[13.5px] text-faint">
      <p>{end}</p>
      {notice !== undefined && <p className="whitespace-pre-line">{notice}</p>}
    </div>
  );
}

/** What is said about the end of an answer; null for one that ended normally and whole. */
function describeEnd({ reason, limit, cut }: MessageMetadata, t: Text): string | null {
  if (reason === "goal" && !limit) return cut === undefined ? null : (t.cutAnswers[cut] ?? null);
  if (reason === undefined) return null;
  const stopped = t.outcomes[limit || reason] ?? (limit || reason);
  return limit ? `${stopped} ${t.answeredAtLimit}` : stopped;
}
