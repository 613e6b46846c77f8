import { ArrowRight } from "lucide-react";
import { endState } from "@/protocol/run";
import type { Task } from "@/protocol/task";
import { type Text, useText } from "@/text/text";
import { useAgentName } from "@/ui/agent-name";
import { Button } from "@/ui/button";

/** How a task stands: its state, or how it ended. */
export function taskStateText({ state, reason }: Task, t: Text): string {
  if (state !== "ended") return t.taskStates[state];
  if (reason === null || reason === "goal") return t.toolDone;
  return (t.outcomes[reason] ?? reason).replace(/[.。]$/, "");
}

const LOOKS: Record<Task["state"], string> = {
  queued: "bg-line-strong",
  running: "bg-accent animate-breathe",
  waiting: "bg-warn",
  ended: "ring-1 ring-inset ring-accent",
};

/** The state as a dot. */
export function TaskMark({ task }: { task: Task }) {
  const look = task.state === "ended" && hasFailed(task.reason) ? "bg-danger" : LOOKS[task.state];
  return <span aria-hidden="true" className={`size-2 shrink-0 rounded-full ${look}`} />;
}

function hasFailed(reason: string | null): boolean {
  return reason !== null && endState(reason) === "failed";
}

/** The handle that a call has returned: which agent works in the background, how it stands, and the way to it. */
export function TaskHandle({ task, onOpen }: { task: Task; onOpen: () => void }) {
  const t = useText();
  const agent = useAgentName()(task.agent);
  return (
    <div className="flex items-center gap-2 text-[13px]">
      <TaskMark task={task} />
      <span className="font-medium">{agent}</span>
      <span className="min-w-0 flex-1 truncate text-soft">{taskStateText(task, t)}</span>
      <Button onClick={onOpen} aria-label={t.openTask(agent, task.title)}>
        {t.open} <ArrowRight size={13} aria-hidden="true" />
      </Button>
    </div>
  );
}
