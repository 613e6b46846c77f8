import { useEffect, useId, useState } from "react";
import { navigate } from "@/app/route";
import { useServices } from "@/app/services";
import { Approval } from "@/features/approvals/approval";
import { TaskList } from "@/features/background/task-list";
import { useChat, useDoneCalls } from "@/features/chat/use-chat";
import { CallInput } from "@/features/tool-cards/unified-tool";
import type { Ask } from "@/protocol/ask";
import { type ToolPart, toolName } from "@/protocol/message";
import { list, optionalText, readableName, record, text } from "@/protocol/shapes";
import { useText } from "@/text/text";
import { type Answer, answerAsk } from "@/transport/asks";
import { Button } from "@/ui/button";

/** Tools that start or reach background tasks, besides the agents themselves. */
const TASK_TOOLS = new Set(["sub-agent", "background_tasks"]);

/** The background tasks of this chat, and their questions. */
export function BackgroundTasks({ agents }: { agents: ReadonlySet<string> }) {
  const services = useServices();
  const store = services.tasks(useChat().id);
  const mayHaveStarted = (part: ToolPart) =>
    agents.has(toolName(part)) || TASK_TOOLS.has(toolName(part)) || record(part.input)["background"] === true;
  const calls = useDoneCalls(mayHaveStarted);
  useEffect(() => {
    if (calls > 0) void store.refresh();
  }, [store, calls]);
  const answer = async (ask: Ask, value: Answer) => {
    await answerAsk(ask.id, value);
    await store.refresh();
  };
  return (
    <TaskList
      store={store}
      onOpen={navigate}
      drawAsk={(ask) => <TaskAsk key={ask.id} ask={ask} onAnswer={(value) => answer(ask, value)} />}
    />
  );
}

interface TaskAskProps {
  ask: Ask;
  onAnswer: (answer: Answer) => Promise<void>;
}

/** What a task asks: an approval of a call, or a question in words. */
function TaskAsk({ ask, onAnswer }: TaskAskProps) {
  const { title, tool, args, reason, agent_path: path } = ask.payload;
  return (
    <div className="mx-2 mb-2 space-y-3 rounded-xl border border-line bg-sunken px-3.5 py-3">
      {ask.kind === "approval" ? (
        <>
          <p className="text-[13.5px] font-medium break-words">{readableName(text(title) || text(tool))}</p>
          <CallInput input={args} />
          <Approval
            input={args}
            path={list(path).map((name) => text(name))}
            reason={optionalText(reason)}
            onAnswer={onAnswer}
          />
        </>
      ) : (
        <QuestionField ask={ask} onAnswer={onAnswer} />
      )}
    </div>
  );
}

function QuestionField({ ask, onAnswer }: TaskAskProps) {
  const t = useText();
  const id = useId();
  const [value, setValue] = useState("");
  const [error, setError] = useState<string | null>(null);
  const { question, message, text: words } = ask.payload;
  const asked = text(question) || text(message) || text(words) || JSON.stringify(ask.payload);
  return (
    <form
      className="space-y-2"
      onSubmit={(event) => {
        event.preventDefault();
        onAnswer({ value }).catch((problem: unknown) =>
          setError(problem instanceof Error ? problem.message : String(problem)),
        );
      }}
    >
      <label htmlFor={id} className="block font-medium break-words">
        {asked}
      </label>
      <div className="flex gap-2">
        <input
          id={id}
          value={value}
          onChange={(event) => setValue(event.target.value)}
          className="h-8 min-w-0 flex-1 rounded-lg border border-line bg-page px-2.5 focus:border-line-strong"
        />
        <Button type="submit" look="primary" disabled={value.trim() === ""}>
          {t.send}
        </Button>
      </div>
      {error ? (
        <p role="alert" className="text-danger">
          {error}
        </p>
      ) : null}
    </form>
  );
}
