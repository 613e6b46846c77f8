/** A stretch of work: which of its steps are shown, and all of it in one line. */

import { type CallState, callState } from "@/features/tool-cards/tool-view";
import { type Activity, activityOf, kindOf, thingOf } from "@/features/tool-cards/verbs";
import { isToolPart } from "@/protocol/message";
import type { WorkPart } from "@/protocol/segments";
import { formatSeconds } from "@/text/format";
import type { Text } from "@/text/text";

/** How many of the newest steps stay visible while the work goes on. */
export const RECENT = 8;
/** How many steps of a folded group stay visible because they failed. */
const MOST_FAILED = 3;
const READ_ONLY = new Set(["read", "search", "think", "fetch"]);

export interface WorkGroup {
  parts: readonly WorkPart[];
  turns: readonly number[];
  /** Whether the run is in progress. */
  isLive: boolean;
  /** Whether the work is over: the answer's text has begun, or the run has ended. */
  isSettled: boolean;
  /** The calls that run agents. */
  agentCalls: ReadonlySet<string>;
  /** Whether a call stays visible when the group folds, because it has a card of its own. */
  keeps: (part: WorkPart) => boolean;
}

export interface Fold {
  /** The steps behind the summary. */
  folded: readonly WorkPart[];
  /** The steps that are shown anyway. */
  shown: readonly WorkPart[];
}

/** Which steps are folded into one line. A single call is a line already, so it is never folded. */
export function foldOf(group: WorkGroup): Fold {
  const { parts, isSettled } = group;
  const calls = parts.filter((part) => part.type !== "reasoning");
  const isFoldable = isSettled ? calls.length > 1 : parts.length > RECENT + 2;
  if (!isFoldable) return { folded: [], shown: parts };
  const recent = isSettled ? parts.length : parts.length - RECENT;
  let failed = 0;
  const isKept = (part: WorkPart, place: number) => {
    if (place >= recent || mustShow(part, group) || group.keeps(part)) return true;
    return hasFailed(part, group.isLive) && ++failed <= MOST_FAILED;
  };
  const shown = parts.filter(isKept);
  const kept = new Set(shown);
  return { folded: parts.filter((part) => !kept.has(part)), shown };
}

function mustShow(part: WorkPart, { isLive }: WorkGroup): boolean {
  const state = stateOf(part, isLive);
  return state === "waiting" || state === "running" || state === "writing";
}

function hasFailed(part: WorkPart, isLive: boolean): boolean {
  const state = stateOf(part, isLive);
  return state === "failed" || state === "denied" || state === "interrupted";
}

function stateOf(part: WorkPart, isLive: boolean): CallState | null {
  return isToolPart(part) ? callState(part, isLive) : null;
}

/** The steps in one line: "Read 3 files, ran 2 commands, 1 declined"; what was declined was not done. */
export function summaryOf(parts: readonly WorkPart[], agentCalls: ReadonlySet<string>, t: Text): string {
  const things = new Map<Activity, Set<string>>();
  const done = parts.filter((part) => stateOf(part, false) !== "denied");
  for (const part of done) {
    const activity = isToolPart(part) ? activityOf(part, agentCalls.has(part.toolCallId), t) : "thought";
    const thing = isToolPart(part) ? thingOf(part, activity) : "";
    things.set(activity, (things.get(activity) ?? new Set()).add(thing));
  }
  if (things.size > 1) things.delete("thought");
  const counts = [...things].map(([activity, { size }]) => t.workCounts[activity](size));
  if (done.length < parts.length) counts.push(t.declinedCount(parts.length - done.length));
  const words = counts.join(t.comma);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function failedCount(parts: readonly WorkPart[], isLive: boolean): number {
  return parts.filter((part) => stateOf(part, isLive) === "failed").length;
}

/** How long the calls took: calls of one turn that only read run at the same time, others one after the other. */
export function secondsOf({ parts, turns }: Pick<WorkGroup, "parts" | "turns">): number {
  const byTurn = new Map<number, { sum: number; longest: number; isReading: boolean }>();
  parts.forEach((part, place) => {
    const seconds = isToolPart(part) ? part.toolMetadata?.["duration"] : null;
    if (!isToolPart(part) || typeof seconds !== "number") return;
    const turn = turns[place] ?? 0;
    const known = byTurn.get(turn) ?? { sum: 0, longest: 0, isReading: true };
    byTurn.set(turn, {
      sum: known.sum + seconds,
      longest: Math.max(known.longest, seconds),
      isReading: known.isReading && READ_ONLY.has(kindOf(part)),
    });
  });
  return [...byTurn.values()].reduce((sum, turn) => sum + (turn.isReading ? turn.longest : turn.sum), 0);
}

/** The time of a group, if it is worth a word. */
export function timeText(group: Pick<WorkGroup, "parts" | "turns">): string {
  const seconds = secondsOf(group);
  return seconds >= 0.1 ? formatSeconds(seconds) : "";
}
