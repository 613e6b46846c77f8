import type { MessageMetadata } from "@/protocol/message";
import { useText } from "@/text/text";
import { Button } from "@/ui/button";
import { Notice } from "@/ui/notice";

/** How an answer ended, unless it ended normally. */
export function Outcome({ metadata, onRetry }: { metadata: MessageMetadata | undefined; onRetry: () => void }) {
  const t = useText();
  const { reason, error } = metadata ?? {};
  if (reason === undefined || reason === "goal") return null;
  if (error?.message !== undefined) {
    return (
      <Notice title={error.message} hint={error.hint ?? null}>
        <Button onClick={onRetry}>{t.retry}</Button>
      </Notice>
    );
  }
  return <p className="text-[13.5px] text-faint">{t.outcomes[reason] ?? reason}</p>;
}
