import { useEffect } from "react";
import { TaskAsk } from "@/app/call-ask";
import { openChat } from "@/app/route";
import { useServices } from "@/app/services";
import { TaskList } from "@/features/background/task-list";
import { useChat, useDoneCalls } from "@/features/chat/use-chat";
import { type ToolPart, toolName } from "@/protocol/message";
import { record } from "@/protocol/shapes";

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
  return (
    <TaskList
      store={store}
      onOpen={openChat}
      drawAsk={(ask, waiting) => <TaskAsk key={ask.id} ask={ask} waiting={waiting} onDone={() => store.refresh()} />}
    />
  );
}
