import { Circle, CircleCheck, CircleDot } from "lucide-react";
import type { Todo, TodoStatus } from "@/features/tool-cards/todos";
import { useText } from "@/text/text";

const SIGNS = { pending: Circle, in_progress: CircleDot, completed: CircleCheck };
const LOOKS: Record<TodoStatus, string> = {
  pending: "text-soft",
  in_progress: "font-medium text-ink",
  completed: "text-faint line-through decoration-line-strong",
};

/** A to-do list with what is done, in progress and still open. */
export function TodoList({ todos }: { todos: readonly Todo[] }) {
  const t = useText();
  return (
    <ul aria-label={t.todos} className="space-y-1 text-[13.5px]">
      {todos.map(({ content, status }, index) => {
        const Sign = SIGNS[status];
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: an entry is identified by its position
          <li key={index} data-todo={status} className="flex items-start gap-2">
            <Sign
              size={15}
              aria-label={t.todoStates[status]}
              className={`mt-[3px] shrink-0 ${status === "pending" ? "text-faint" : "text-accent"}`}
            />
            <span className={`min-w-0 break-words ${LOOKS[status]}`}>{content}</span>
          </li>
        );
      })}
    </ul>
  );
}
