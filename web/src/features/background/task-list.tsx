import { ChevronRight } from "lucide-react";
import { type ReactNode, useEffect, useId, useState } from "react";
import { TaskRow } from "@/features/background/task-row";
import { isActive, isAskedBy, type TaskStore } from "@/features/background/task-store";
import type { Ask } from "@/protocol/ask";
import type { Task, TaskState } from "@/protocol/task";
import { type Text, useText } from "@/text/text";
import { useStore } from "@/ui/store";

interface TaskListProps {
  store: TaskStore;
  onOpen: (sessionId: string) => void;
  /** Renders an ask; supplied by the app, because approvals are another feature. */
  drawAsk: (ask: Ask, waiting: readonly Ask[]) => ReactNode;
}

/** The background tasks of this chat: one line, and the tasks when it is opened or one of them asks something. */
export function TaskList({ store, onOpen, drawAsk }: TaskListProps) {
  const t = useText();
  const id = useId();
  const { tasks, asks } = useStore(store);
  const [choice, setChoice] = useState<boolean | null>(null);
  const isAsked = asks.length > 0;
  // A task that asks something opens the list, even if it was closed before.
  useEffect(() => {
    if (isAsked) setChoice(null);
  }, [isAsked]);
  if (tasks.length === 0) return null;
  const isOpen = choice ?? isAsked;
  return (
    <section aria-label={t.backgroundTasks} className="rounded-2xl border border-line bg-surface text-[13px]">
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setChoice(!isOpen)}
        className="flex h-9 w-full items-center gap-2 rounded-2xl px-3.5 text-left -outline-offset-2 hover:bg-sunken"
      >
        <span className="shrink-0 font-medium">{t.backgroundTasks}</span>
        <span className={`min-w-0 flex-1 truncate ${isAsked ? "text-warn" : "text-faint"}`}>{countsOf(tasks, t)}</span>
        <ChevronRight
          size={15}
          aria-hidden="true"
          className={`shrink-0 text-faint transition-transform ${isOpen ? "rotate-90" : ""}`}
        />
      </button>
      <span role="status" className="sr-only">
        {isAsked ? t.taskCounts.waiting(asks.length) : ""}
      </span>
      {isOpen ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
        <ul id={id} tabIndex={0} className="max-h-[38vh] overflow-y-auto border-t border-line -outline-offset-2">
          {newestFirst(tasks).map((task) => (
            <TaskRow key={task.sessionId} task={task} store={store} onOpen={() => onOpen(task.sessionId)}>
              {asks.filter((ask) => isAskedBy(ask, task)).map((ask) => drawAsk(ask, asks))}
            </TaskRow>
          ))}
        </ul>
      ) : null}
    </section>
  );
}

/** Those that work before those that have ended. */
function newestFirst(tasks: readonly Task[]): Task[] {
  return [...tasks].sort(
    (one, other) => Number(isActive(other)) - Number(isActive(one)) || other.createdAt - one.createdAt,
  );
}

/** How many tasks are in each state: "2 running, 1 ended". */
function countsOf(tasks: readonly Task[], t: Text): string {
  const states: TaskState[] = ["waiting", "running", "queued", "ended"];
  const counts = states.map((state) => [state, tasks.filter((task) => task.state === state).length] as const);
  return counts
    .filter(([, count]) => count > 0)
    .map(([state, count]) => t.taskCounts[state](count))
    .join(t.comma);
}
