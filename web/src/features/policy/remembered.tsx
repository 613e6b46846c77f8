import { Undo2 } from "lucide-react";
import { useState } from "react";
import type { ToolInfo } from "@/protocol/catalog";
import type { RememberedAnswer } from "@/protocol/policy";
import { readableName } from "@/protocol/shapes";
import { formatMoment } from "@/text/format";
import { LANGUAGES, titleIn, useLanguage, useText } from "@/text/text";
import { listRemembered, undoRemembered } from "@/transport/policy";
import { useAgentName } from "@/ui/agent-name";
import { Button } from "@/ui/button";
import { Load } from "@/ui/load";
import { ErrorLine } from "@/ui/notice";
import { ScrollBlock } from "@/ui/scroll-block";

interface RememberedProps {
  tools: readonly ToolInfo[];
  onChanged: () => Promise<void>;
  onOpen: (sessionId: string) => void;
}

/** What was always allowed, the newest first, and how to take it back. */
export function Remembered({ tools, onChanged, onOpen }: RememberedProps) {
  const t = useText();
  return (
    <Load load={listRemembered}>
      {(answers, reload) => (
        <>
          <p className="pb-2 text-[13px] text-soft">{t.alwaysHint}</p>
          {answers.length === 0 ? <p className="text-[13px] text-faint">{t.nothingAlways}</p> : null}
          <ul>
            {answers.map((answer) => (
              <Answer
                key={answer.id}
                answer={answer}
                title={titleIn(t, tools.find(({ name }) => name === answer.tool)?.title ?? readableName(answer.tool))}
                onOpen={onOpen}
                onUndone={async () => {
                  await reload();
                  await onChanged();
                }}
              />
            ))}
          </ul>
        </>
      )}
    </Load>
  );
}

interface AnswerProps {
  answer: RememberedAnswer;
  title: string;
  onOpen: (sessionId: string) => void;
  onUndone: () => Promise<void>;
}

function Answer({ answer, title, onOpen, onUndone }: AnswerProps) {
  const t = useText();
  const locale = LANGUAGES[useLanguage()].locale;
  const agentName = useAgentName();
  const [error, setError] = useState<unknown>(null);
  const { sessionId, givenAt, undoneAt } = answer;
  const undo = () => {
    undoRemembered(answer.id).then(onUndone, setError);
  };
  return (
    <li className="border-t border-line py-3 first:border-t-0">
      <div className="flex items-center gap-2.5">
        <span
          className={`min-w-0 flex-1 truncate text-[14px] font-medium ${undoneAt === null ? "" : "text-faint line-through"}`}
        >
          {title}
        </span>
        {sessionId === null ? null : (
          <Button look="plain" onClick={() => onOpen(sessionId)}>
            {t.openTheChat}
          </Button>
        )}
        {undoneAt === null ? (
          <Button onClick={undo}>
            <Undo2 size={13} aria-hidden="true" /> {t.undo}
          </Button>
        ) : null}
      </div>
      <p className="text-[12.5px] text-faint">
        {givenAt === null ? null : t.allowedOn(formatMoment(givenAt, locale), agentName(answer.agent))}
        {undoneAt === null ? null : ` ${t.undoneOn(formatMoment(undoneAt, locale))}`}
      </p>
      {answer.args === null ? null : (
        <ScrollBlock className="mt-1.5 max-h-40 rounded-lg bg-sunken px-3 py-2 text-[12px]">
          {JSON.stringify(answer.args, null, 2)}
        </ScrollBlock>
      )}
      {error === null ? null : <ErrorLine error={error} />}
    </li>
  );
}
