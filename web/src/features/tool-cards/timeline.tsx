import { ChevronRight, ListTodo } from "lucide-react";
import { type ReactNode, useState } from "react";
import { ThoughtStep } from "@/features/tool-cards/thought-step";
import { TodoList } from "@/features/tool-cards/todo-list";
import { doneCount, newestTodos, readTodos } from "@/features/tool-cards/todos";
import { callState } from "@/features/tool-cards/tool-view";
import { failedCount, foldOf, summaryOf, timeText, type WorkGroup } from "@/features/tool-cards/work-group";
import { isToolPart, type ToolPart } from "@/protocol/message";
import { isTodoCall, type WorkPart } from "@/protocol/segments";
import { useText } from "@/text/text";

interface TimelineProps extends WorkGroup {
  /** Whether the to-do list of the answer belongs here. */
  hasTodos: boolean;
  /** Draws a call; `isLane` if it stands next to others that run at the same time. */
  drawCall: (part: ToolPart, isLane: boolean) => ReactNode;
}

/** A stretch of work as one line of steps: open while it goes on, one summary when it is done. */
export function Timeline({ hasTodos, drawCall, ...whole }: TimelineProps) {
  const t = useText();
  const [isOpen, setOpen] = useState(false);
  const group = withoutTodos(whole);
  const { folded, shown } = foldOf(group);
  const steps = isOpen ? group.parts : shown;
  // Parts are only ever appended, so a step is identified by its place.
  const places = new Map(whole.parts.map((part, place) => [part, place]));
  return (
    <div className="@container">
      {folded.length > 0 ? (
        <Summary group={group} folded={folded} isOpen={isOpen} onToggle={() => setOpen(!isOpen)} />
      ) : null}
      {steps.length > 0 ? (
        <ol aria-label={t.work} className={folded.length > 0 ? "mt-0.5" : ""}>
          {rowsOf(steps, group).map((row) => (
            <Row key={places.get(row[0] as WorkPart)} row={row} isLive={group.isLive} drawCall={drawCall} />
          ))}
        </ol>
      ) : null}
      {hasTodos ? <TodoProgress parts={whole.parts} isLive={whole.isLive} /> : null}
    </div>
  );
}

/** The list itself shows what a call of the to-do tool has changed. */
function withoutTodos(group: WorkGroup): WorkGroup {
  const isHidden = (part: WorkPart) => isTodoCall(part) && readTodos(part) !== null;
  if (!group.parts.some(isHidden)) return group;
  const turns = group.turns.filter((_, place) => !isHidden(group.parts[place] as WorkPart));
  return { ...group, parts: group.parts.filter((part) => !isHidden(part)), turns };
}

interface SummaryProps {
  group: WorkGroup;
  folded: readonly WorkPart[];
  isOpen: boolean;
  onToggle: () => void;
}

function Summary({ group, folded, isOpen, onToggle }: SummaryProps) {
  const t = useText();
  const counted = group.isSettled ? group.parts : folded;
  const words = summaryOf(counted, group.agentCalls, t);
  const failed = failedCount(counted, group.isLive);
  const time = group.isSettled ? timeText(group) : "";
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      onClick={onToggle}
      className="-mx-1.5 flex min-h-7 max-w-full items-center gap-1.5 rounded-md px-1.5 text-left text-[13.5px] text-soft hover:text-ink"
    >
      <span className="min-w-0 truncate">{group.isSettled ? words : t.earlierSteps(words)}</span>
      {failed > 0 ? <span className="shrink-0 text-danger">· {t.failedCount(failed)}</span> : null}
      {time === "" ? null : <span className="shrink-0 text-faint tabular-nums">· {time}</span>}
      <ChevronRight
        size={14}
        aria-hidden="true"
        className={`shrink-0 text-faint transition-transform ${isOpen ? "rotate-90" : ""}`}
      />
    </button>
  );
}

/** The steps in rows: agents that were called together stand next to each other as long as one of them works. */
function rowsOf(steps: readonly WorkPart[], { agentCalls, isLive }: WorkGroup): WorkPart[][] {
  const rows: WorkPart[][] = [];
  for (const part of steps) {
    const last = rows.at(-1);
    const isNext = last !== undefined && isAgent(part, agentCalls) && isAgent(last[0], agentCalls);
    if (isNext) last.push(part);
    else rows.push([part]);
  }
  return rows.flatMap((row) =>
    row.length > 1 && !row.some((part) => isAtWork(part, isLive)) ? row.map((part) => [part]) : [row],
  );
}

function isAgent(part: WorkPart | undefined, agentCalls: ReadonlySet<string>): boolean {
  return part !== undefined && isToolPart(part) && agentCalls.has(part.toolCallId);
}

function isAtWork(part: WorkPart, isLive: boolean): boolean {
  const state = isToolPart(part) ? callState(part, isLive) : "done";
  return state === "running" || state === "waiting";
}

interface RowProps {
  row: readonly WorkPart[];
  isLive: boolean;
  drawCall: TimelineProps["drawCall"];
}

function Row({ row, isLive, drawCall }: RowProps) {
  const [first] = row;
  if (first === undefined) return null;
  if (!isToolPart(first)) return <ThoughtStep part={first} isLive={isLive} />;
  if (row.length === 1) return drawCall(first, false);
  return (
    <li className="py-1.5">
      <ul className="grid gap-2.5 @xl:grid-cols-2">{row.filter(isToolPart).map((part) => drawCall(part, true))}</ul>
    </li>
  );
}

/** The to-do list of the agent, always as it is now; folded when the run is over. */
function TodoProgress({ parts, isLive }: { parts: readonly WorkPart[]; isLive: boolean }) {
  const t = useText();
  const [choice, setChoice] = useState<boolean | null>(null);
  const todos = newestTodos(parts);
  if (todos === null) return null;
  const isOpen = choice ?? isLive;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for form fields
    <div role="group" aria-label={t.todos} className="mt-1">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setChoice(!isOpen)}
        className="relative -mx-1.5 flex min-h-7 w-[calc(100%+0.75rem)] items-center gap-2 rounded-md pr-1.5 pl-8.5 text-left text-[13.5px] text-soft hover:text-ink"
      >
        <ListTodo size={15} aria-hidden="true" className="absolute left-2 text-faint" />
        <span>{t.todos}</span>
        <span className="text-[12px] text-faint tabular-nums">{t.todosDone(doneCount(todos), todos.length)}</span>
        <ChevronRight
          size={14}
          aria-hidden="true"
          className={`ml-auto shrink-0 text-faint transition-transform ${isOpen ? "rotate-90" : ""}`}
        />
      </button>
      {isOpen ? (
        <div className="pt-0.5 pb-2 pl-7">
          <TodoList todos={todos} />
        </div>
      ) : null}
    </div>
  );
}
