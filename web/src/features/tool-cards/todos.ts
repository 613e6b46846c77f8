/** The to-do list of an agent, as the tool `write_todos` keeps it: every call has the whole list. */

import type { ToolPart } from "@/protocol/message";
import { isTodoCall, type WorkPart } from "@/protocol/segments";
import { isRecord, list, optionalText, record } from "@/protocol/shapes";

export type TodoStatus = "pending" | "in_progress" | "completed";

export interface Todo {
  content: string;
  status: TodoStatus;
}

const STATUSES = new Set<unknown>(["pending", "in_progress", "completed"]);

/** The list of a call; null if it has none, also while it is being written. */
export function readTodos(part: ToolPart): Todo[] | null {
  const isThere = part.state !== "input-streaming" && part.state !== "output-error" && part.state !== "output-denied";
  const todos = isThere ? list(record(part.input)["todos"]) : [];
  const read = todos.map(readTodo).filter((todo) => todo !== null);
  return read.length > 0 ? read : null;
}

function readTodo(value: unknown): Todo | null {
  const content = isRecord(value) ? optionalText(value["content"]) : null;
  if (!isRecord(value) || content === null) return null;
  return { content, status: STATUSES.has(value["status"]) ? (value["status"] as TodoStatus) : "pending" };
}

/** The newest list among these calls. */
export function newestTodos(parts: readonly WorkPart[]): Todo[] | null {
  for (const part of parts.toReversed()) {
    const todos = isTodoCall(part) ? readTodos(part) : null;
    if (todos !== null) return todos;
  }
  return null;
}

export function doneCount(todos: readonly Todo[]): number {
  return todos.filter(({ status }) => status === "completed").length;
}
