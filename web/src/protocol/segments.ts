/** An answer as a reader takes it in: texts, and the work between them. */

import { isToolPart, type MessagePart, type ToolPart, toolName } from "@/protocol/message";

export type ReasoningPart = Extract<MessagePart, { type: "reasoning" }>;
export type WorkPart = ToolPart | ReasoningPart;

/** Consecutive reasoning and tool calls. */
export interface WorkSegment {
  readonly kind: "work";
  /** The position of its first part, which never changes. */
  readonly index: number;
  readonly parts: readonly WorkPart[];
  /** The turn of each part; calls of one turn may run at the same time. */
  readonly turns: readonly number[];
}

/** How far a stretch of work is. */
export interface WorkState {
  readonly isLive: boolean;
  /** Whether the work is over: text follows it, or the run has ended. */
  readonly isSettled: boolean;
  /** Whether the to-do list of the answer belongs to it. */
  readonly hasTodos: boolean;
}

export type Segment = WorkSegment | { readonly kind: "part"; readonly index: number; readonly part: MessagePart };

/** The segments of an answer; marks of turns, empty texts and data that is not shown are left out. */
export function segmentsOf(parts: readonly MessagePart[], before: readonly Segment[] = []): Segment[] {
  const segments: Segment[] = [];
  let work: { parts: WorkPart[]; turns: number[] } | null = null;
  let turn = 0;
  parts.forEach((part, index) => {
    if (typeof part?.type !== "string" || !isShown(part)) {
      if (part?.type === "step-start") turn++;
      return;
    }
    if (!isWork(part)) {
      work = null;
      segments.push({ kind: "part", index, part });
      return;
    }
    if (work === null) {
      work = { parts: [], turns: [] };
      segments.push({ kind: "work", index, ...work });
    }
    work.parts.push(part);
    work.turns.push(turn);
  });
  return segments.map((segment, place) => share(before[place], segment));
}

/** A malformed call stands alone, so that the calls around it can be drawn. */
function isWork(part: MessagePart): part is WorkPart {
  return part.type === "reasoning" || (isToolPart(part) && isWellFormed(part));
}

function isWellFormed(part: ToolPart): boolean {
  return typeof toolName(part) === "string" && typeof part.toolCallId === "string";
}

function isShown(part: MessagePart): boolean {
  // A stored part may be malformed: it is shown as what it is, or left out, and never breaks the answer.
  if (part.type === "text") return typeof part.text !== "string" || part.text.trim() !== "";
  if (part.type === "reasoning")
    return typeof part.text === "string" && (part.text.trim() !== "" || part.state === "streaming");
  return part.type === "file" || part.type === "data-user-message" || isToolPart(part);
}

/** The segment from before if nothing in it has changed, so that it is not drawn again. */
function share(before: Segment | undefined, now: Segment): Segment {
  if (before?.kind === "part" && now.kind === "part") return before.part === now.part ? before : now;
  if (before?.kind !== "work" || now.kind !== "work" || before.parts.length !== now.parts.length) return now;
  return before.parts.every((part, place) => part === now.parts[place]) ? before : now;
}

/** The tool with which an agent keeps its to-do list. */
export const TODO_TOOL = "write_todos";

/** The work with the newest to-do list, so that the list is shown once; -1 if there is none. */
function todoSegment(segments: readonly Segment[]): number {
  return segments.findLastIndex((segment) => segment.kind === "work" && segment.parts.some(isTodoCall));
}

export function isTodoCall(part: WorkPart): part is ToolPart {
  return part.type !== "reasoning" && toolName(part) === TODO_TOOL;
}

/** The state of the work at this place among the segments. */
export function workState(segments: readonly Segment[], place: number, isLive: boolean): WorkState {
  const isLast = place === segments.length - 1;
  return { isLive, isSettled: !isLive || !isLast, hasTodos: place === todoSegment(segments) };
}

/** The calls that cannot begin yet: all approvals of a turn are collected before its calls run. */
export function heldCalls({ parts, turns }: WorkSegment): ReadonlySet<WorkPart> {
  const asking = new Set(turns.filter((_, place) => parts[place]?.state === "approval-requested"));
  const isHeld = (part: WorkPart) => part.state === "input-available" || part.state === "approval-responded";
  return new Set(parts.filter((part, place) => isHeld(part) && asking.has(turns[place] ?? 0)));
}
