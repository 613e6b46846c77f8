/** Runs as the page shows them: in the transcript of a sub-agent and on the inspector's timeline. */

import type { RequestTiming, RunEndEvent, Usage } from "@/protocol/events.gen";
import type { MessagePart } from "@/protocol/message";
import { isRecord, type Json, list, optionalText, record, text, time } from "@/protocol/shapes";

export type RunState = "running" | "done" | "failed" | "stopped";

export interface Run {
  readonly runId: string;
  /** The runs from the top, whose journal has the entries, down to this one. */
  readonly path: readonly string[];
  /** The call of the parent that started this run. */
  readonly parentCallId: string | null;
  readonly agent: string;
  readonly model: string;
  readonly state: RunState;
  /** The number of its first entry. */
  readonly number: number;
  readonly start: number;
  /** The time of its newest entry. */
  readonly seen: number;
  readonly outcome: Outcome | null;
  readonly steps: readonly Step[];
  /** False if only its beginning and end are known, and the journal has the rest. */
  readonly isWhole: boolean;
}

export type Runs = Readonly<Record<string, Run>>;

export type Outcome = Omit<RunEndEvent, "type">;

/** Something a run does, and when. */
export interface Step {
  /** Unique among the steps that have not ended. */
  readonly id: string;
  readonly kind: "turn" | "request" | "text" | "reasoning" | "tool" | "ask" | "message";
  readonly title: string;
  /** The number of the entry that began it. */
  readonly number: number;
  readonly start: number;
  readonly end: number | null;
  /** How a transcript shows it. */
  readonly part: MessagePart | null;
  readonly detail: unknown;
}

/** The detail of a turn that has ended. */
export interface TurnDetail {
  finish_reason?: string;
  usage?: Usage;
  /** How long its request took, if the journal has it. */
  timing?: RequestTiming;
}

/** The detail of a request: what the model was sent. */
export interface ModelRequest {
  model: string;
  messages: readonly Json[];
  /** How many of the messages were in the previous request too. */
  kept: number;
  tools: readonly string[];
  toolChoice: string;
  isSummary: boolean;
}

/** When a run was asked for, and when a process began to work on it, in milliseconds since 1970. */
export interface RunTimes {
  createdAt: number;
  /** Null while it is in the queue. */
  startedAt: number | null;
}

export function parseRunTimes(value: unknown): RunTimes {
  const run = record(value);
  const startedAt = time(run["started_at"]);
  return { createdAt: time(run["created_at"]), startedAt: startedAt === 0 ? null : startedAt };
}

/** The fields of a run of which nothing is known yet. */
export const NEW_RUN = { model: "", number: 0, start: 0, seen: 0, outcome: null, steps: [] } satisfies Partial<Run>;

/** A sub-agent's run as a stored message has it (`data-subagent`), without its steps. */
export function storedRun(data: unknown): Run | null {
  if (!isRecord(data) || typeof data["run_id"] !== "string") return null;
  return {
    ...NEW_RUN,
    runId: data["run_id"],
    path: list(data["path"]).map((id) => text(id)),
    parentCallId: optionalText(data["parent_call_id"]),
    agent: text(data["agent"]),
    state: data["state"] === "running" ? "running" : endState(text(data["reason"])),
    isWhole: false,
  };
}

/** The run as the parts of a message. */
export function partsOf(run: Run): MessagePart[] {
  return run.steps.map((step) => step.part).filter((part) => part !== null);
}

const indexes = new WeakMap<Runs, Map<string, Run[]>>();

/** The runs that a call has started; `callerId` is the run that made the call, null for the answer itself. */
export function runsOfCall(runs: Runs, callerId: string | null, callId: string): readonly Run[] {
  let index = indexes.get(runs);
  if (index === undefined) {
    index = new Map();
    for (const run of Object.values(runs)) {
      const key = callKey(run.path.length === 2 ? null : (run.path.at(-2) ?? null), run.parentCallId ?? "");
      index.set(key, [...(index.get(key) ?? []), run]);
    }
    indexes.set(runs, index);
  }
  return index.get(callKey(callerId, callId)) ?? NONE;
}

const NONE: readonly Run[] = [];

function callKey(callerId: string | null, callId: string): string {
  return `${callerId ?? ""} ${callId}`;
}

/** Whether this run, or one below it, waits for an answer. */
export function waitsForAnswer(run: Run, runs: Runs): boolean {
  if (run.state !== "running") return false;
  const isOpen = ({ kind, end, title }: Step) => kind === "ask" && end === null && title !== "browser";
  if (run.steps.some(isOpen)) return true;
  return Object.values(runs).some((child) => child.path.at(-2) === run.runId && waitsForAnswer(child, runs));
}

/** The state of a run that has ended for this reason. */
export function endState(reason: string): RunState {
  if (reason === "goal") return "done";
  return reason === "cancelled" || reason === "interrupted" ? "stopped" : "failed";
}
