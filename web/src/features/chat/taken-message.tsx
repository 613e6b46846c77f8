import { BellRing } from "lucide-react";
import { UserParts } from "@/features/chat/user-parts";
import { type TakenMessage, wordsOf } from "@/protocol/inbox";
import { useText } from "@/text/text";

/** A message that the run took during the answer: a bubble for a person's, a quiet line for a notice. */
export function TakenMessageView({ message }: { message: TakenMessage }) {
  const t = useText();
  if (message.kind === "notice") return <NoticeLine words={wordsOf(message.parts)} />;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for form fields
    <div role="group" aria-label={t.youDuringAnswer} className="flex flex-col items-end gap-1">
      <UserParts parts={message.parts} />
    </div>
  );
}

/** The first line says what has happened; the rest is for the model, and for whoever opens it. */
function NoticeLine({ words }: { words: string }) {
  const [head = "", ...rest] = words.trim().split("\n");
  const line = (
    <>
      <BellRing size={14} className="mt-[3px] shrink-0" aria-hidden="true" />
      <span className="min-w-0 break-words">{head.replace(/^\[(.*)\]$/, "$1")}</span>
    </>
  );
  if (rest.length === 0) return <p className="flex items-start gap-2 text-[13px] text-faint">{line}</p>;
  return (
    <details className="text-[13px] text-faint">
      <summary className="flex cursor-pointer list-none items-start gap-2 hover:text-ink">{line}</summary>
      <p className="mt-1 ml-[7px] border-l-2 border-line pl-3.5 break-words whitespace-pre-wrap text-soft">
        {rest.join("\n").trim()}
      </p>
    </details>
  );
}
