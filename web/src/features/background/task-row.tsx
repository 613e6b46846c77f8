import { MessageSquare, Square } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { TaskMark, taskStateText } from "@/features/background/task-mark";
import { isActive, type TaskStore } from "@/features/background/task-store";
import type { Task } from "@/protocol/task";
import { useText } from "@/text/text";
import { useAgentName } from "@/ui/agent-name";
import { Button, IconButton } from "@/ui/button";
import { ErrorLine } from "@/ui/notice";

interface TaskRowProps {
  task: Task;
  store: TaskStore;
  onOpen: () => void;
  /** What the task asks. */
  children?: ReactNode;
}

/** A task: open it, stop it, or send it a message. */
export function TaskRow({ task, store, onOpen, children }: TaskRowProps) {
  const t = useText();
  const agent = useAgentName()(task.agent);
  const [isWriting, setWriting] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const attempt = async (action: Promise<void>) => {
    setError(null);
    try {
      await action;
      setWriting(false);
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <li aria-label={`${agent}: ${taskStateText(task, t)}`} className="border-t border-line px-1.5 first:border-t-0">
      <div className="flex items-center gap-0.5">
        <button
          type="button"
          onClick={onOpen}
          className="flex min-w-0 flex-1 items-center gap-2 rounded-lg px-2 py-2 text-left -outline-offset-2 hover:bg-sunken"
        >
          <span className="sr-only">{t.open}: </span>
          <TaskMark task={task} />
          <span className="shrink-0 font-medium">{agent}</span>
          <span className="min-w-0 flex-1 truncate text-soft">{task.title}</span>
          <span className={`shrink-0 text-[12px] ${task.state === "waiting" ? "text-warn" : "text-faint"}`}>
            {taskStateText(task, t)}
          </span>
        </button>
        <IconButton
          label={isActive(task) ? t.messageTask(agent) : t.continueTask(agent)}
          aria-expanded={isWriting}
          onClick={() => setWriting(!isWriting)}
        >
          <MessageSquare size={15} />
        </IconButton>
        <IconButton
          label={t.cancelTask(agent)}
          className={isActive(task) ? "" : "invisible"}
          onClick={() => void attempt(store.cancel(task))}
        >
          <Square size={12} fill="currentColor" />
        </IconButton>
      </div>
      {isWriting ? <MessageField task={task} onSend={(text) => attempt(store.send(task, text))} /> : null}
      {error === null ? null : (
        <div className="px-2 pb-2">
          <ErrorLine error={error} />
        </div>
      )}
      {children}
    </li>
  );
}

function MessageField({ task, onSend }: { task: Task; onSend: (text: string) => Promise<void> }) {
  const t = useText();
  const id = useId();
  const [text, setText] = useState("");
  const [isSending, setSending] = useState(false);
  const agent = useAgentName()(task.agent);
  const label = isActive(task) ? t.messageTask(agent) : t.continueTask(agent);
  return (
    <form
      className="flex gap-2 px-2 pb-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() === "") return;
        setSending(true);
        void onSend(text.trim()).finally(() => setSending(false));
      }}
    >
      <label htmlFor={id} className="sr-only">
        {label}
      </label>
      <input
        id={id}
        // biome-ignore lint/a11y/noAutofocus: the field was just asked for
        autoFocus
        value={text}
        placeholder={label}
        onChange={(event) => setText(event.target.value)}
        className="h-8 min-w-0 flex-1 rounded-lg border border-line bg-page px-2.5 focus:border-line-strong"
      />
      <Button type="submit" look="primary" disabled={isSending || text.trim() === ""}>
        {t.send}
      </Button>
    </form>
  );
}
