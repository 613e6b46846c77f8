import { BellDot } from "lucide-react";
import { useText } from "@/text/text";

/** What a chat does: it waits for the user, or works. */
export function StateMark({ isRunning, isWaiting }: { isRunning: boolean; isWaiting: boolean }) {
  const t = useText();
  if (!isWaiting && !isRunning) return null;
  return (
    <span title={isWaiting ? t.chatWaits : t.chatWorks} className="mr-2 flex w-3.5 shrink-0 justify-center">
      {isWaiting ? (
        <BellDot size={14} aria-hidden="true" className="text-accent" />
      ) : (
        <span className="size-1.5 animate-breathe rounded-full bg-accent" aria-hidden="true" />
      )}
      <span className="sr-only">{isWaiting ? t.chatWaits : t.chatWorks}</span>
    </span>
  );
}
