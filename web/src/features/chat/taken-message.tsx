import { BellRing } from "lucide-react";
import { UserParts } from "@/features/chat/user-parts";
import { type TakenMessage, wordsOf } from "@/protocol/inbox";
import { useText } from "@/text/text";
import { useAgentName } from "@/ui/agent-name";

interface TakenMessageProps {
  message: TakenMessage;
  /** Opens the chat of a background task. */
  onOpen: (sessionId: string) => void;
}

/** A message that the run took during the answer: a bubble for a person's, a quiet line for a notice. */
export function TakenMessageView({ message, onOpen }: TakenMessageProps) {
  const t = useText();
  if (message.kind === "notice") return <NoticeLine message={message} onOpen={onOpen} />;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for form fields
    <div role="group" aria-label={t.youDuringAnswer} className="flex flex-col items-end gap-1">
      <UserParts parts={message.parts} />
    </div>
  );
}

/** What has happened in a line, what the model was sent below it, and the way to the task. */
function NoticeLine({ message, onOpen }: TakenMessageProps) {
  const t = useText();
  const { task } = message;
  const agent = useAgentName()(task?.agent ?? "");
  const words = wordsOf(message.parts).trim();
  const [first = "", ...rest] = words.split("\n");
  const [line, details] = task === null ? [first, rest.join("\n").trim()] : [t.taskHasEnded(agent), words];
  return (
    <div className="flex items-start gap-2 text-[13px] text-faint">
      <BellRing size={14} className="mt-[3px] shrink-0" aria-hidden="true" />
      <Details line={line} details={details} />
      {task === null ? null : (
        <button
          type="button"
          aria-label={t.openTask(agent, "")}
          onClick={() => onOpen(task.sessionId)}
          className="shrink-0 rounded-md px-1 text-soft underline decoration-line-strong underline-offset-2 hover:text-ink"
        >
          {t.open}
        </button>
      )}
    </div>
  );
}

function Details({ line, details }: { line: string; details: string }) {
  if (details === "") return <p className="min-w-0 flex-1 break-words">{line}</p>;
  return (
    <details className="min-w-0 flex-1">
      <summary className="cursor-pointer list-none break-words hover:text-ink">{line}</summary>
      <p className="mt-1 border-l-2 border-line pl-3 break-words whitespace-pre-wrap text-soft">{details}</p>
    </details>
  );
}
