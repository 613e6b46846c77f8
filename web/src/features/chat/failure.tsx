import { useText } from "@/text/text";
import { OfflineError } from "@/transport/http";
import { Button } from "@/ui/button";
import { ErrorNotice, Notice } from "@/ui/notice";

interface FailureProps {
  error: Error;
  onRetry: () => void;
  onReconnect: () => void;
}

/** An error in words with the action that helps: try again, or rejoin an answer that may still be in progress. */
export function Failure({ error, onRetry, onReconnect }: FailureProps) {
  const t = useText();
  if (error instanceof OfflineError) {
    return (
      <Notice title={t.offline} hint={t.offlineHint}>
        <Button onClick={onRetry}>{t.retry}</Button>
      </Notice>
    );
  }
  if (error instanceof TypeError) {
    return (
      <Notice title={t.brokenOff} hint={t.brokenOffHint}>
        <Button onClick={onReconnect}>{t.reconnect}</Button>
      </Notice>
    );
  }
  return (
    <ErrorNotice error={error}>
      <Button onClick={onRetry}>{t.retry}</Button>
    </ErrorNotice>
  );
}
