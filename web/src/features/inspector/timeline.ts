/** Runs as the rows of a timeline: what began, how long it took and how it ended, with children below their call. */

import type { Run, Runs, Step } from "@/protocol/run";

export type RowKind = "run" | Step["kind"];

export interface TimelineRow {
  key: string;
  kind: RowKind;
  /** How many runs are above this one. */
  depth: number;
  title: string;
  /** Seconds from the start of the first run. */
  start: number;
  /** Seconds; null while it lasts. */
  duration: number | null;
  isFailed: boolean;
  detail: unknown;
}

/** All rows in reading order. */
export function rowsOf(runs: Runs): TimelineRow[] {
  const all = Object.values(runs);
  const zero = all[0]?.start ?? 0;
  const below = new Map<Run | Step | null, Run[]>();
  for (const run of all) {
    const place = placeOf(run, runs);
    below.set(place, [...(below.get(place) ?? []), run]);
  }
  const rowsBelow = (place: Run | Step | null): TimelineRow[] =>
    (below.get(place) ?? []).flatMap((run) => [
      rowOfRun(run, zero),
      ...rowsBelow(run),
      ...run.steps.flatMap((step) => [...rowOfStep(step, run, zero), ...rowsBelow(step)]),
    ]);
  return rowsBelow(null);
}

/** Where a run is shown: below the call that started it, otherwise below the last thing its parent began before it. */
function placeOf(run: Run, runs: Runs): Run | Step | null {
  const parent = runs[run.path.at(-2) ?? ""];
  if (parent === undefined) return null;
  const before = parent.steps.filter((step) => step.number < run.number);
  return before.findLast((step) => step.id === `tool ${run.parentCallId}`) ?? before.at(-1) ?? parent;
}

function rowOfRun(run: Run, zero: number): TimelineRow {
  return {
    key: `${run.number} run`,
    kind: "run",
    depth: run.path.length - 1,
    title: run.agent,
    start: run.start - zero,
    duration: run.outcome === null ? null : run.seen - run.start,
    isFailed: run.outcome !== null && run.state !== "done",
    detail: run.outcome ?? { model: run.model },
  };
}

/** The row of a step; a call has none until its arguments are complete. */
function rowOfStep(step: Step, run: Run, zero: number): TimelineRow[] {
  const { kind, number, title, start, end, part } = step;
  const state = part !== null && "state" in part ? part.state : null;
  if (state === "input-streaming") return [];
  return [
    {
      key: `${number} ${kind}`,
      kind,
      depth: run.path.length - 1,
      title,
      start: start - zero,
      duration: end === null ? null : end - start,
      isFailed: state === "output-error" || state === "output-denied",
      detail: detailOf(step),
    },
  ];
}

function detailOf({ part, detail }: Step): unknown {
  if (part !== null && "text" in part) return part.text;
  return part !== null && "input" in part ? { arguments: part.input, ...(detail as object | null) } : detail;
}
