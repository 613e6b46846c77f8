/** A run's journal as rows on a time line: what began, how long it took, what came of it; children below their call. */

import { RequestBook } from "@/features/inspector/requests";
import { addUsage, NO_USAGE, type RunSummary } from "@/features/inspector/summary";
import type { RunEntry } from "@/protocol/events.gen";

export type RowKind = "run" | "turn" | "request" | "text" | "reasoning" | "tool" | "ask";

export interface TimelineRow {
  key: string;
  kind: RowKind;
  /** How many runs lie above this one. */
  depth: number;
  title: string;
  /** Seconds from the run's start. */
  start: number;
  /** Seconds; null while it goes on. */
  duration: number | null;
  isFailed: boolean;
  detail: unknown;
  /** The rows of the runs that this call has started. */
  below: TimelineRow[];
}

type NewRow = Pick<TimelineRow, "kind" | "title" | "detail">;

/** What begins a turn when none is open. */
const BEGINNINGS = new Set<RunEntry["type"]>(["model-request", "text-start", "reasoning-start", "tool-input-end"]);

export class Timeline {
  summary: RunSummary = {
    agent: "",
    model: "",
    reason: null,
    error: null,
    seconds: 0,
    turns: 0,
    calls: 0,
    usage: NO_USAGE,
    isOver: false,
  };
  #start: number | null = null;
  readonly #root: TimelineRow[] = [];
  /** Where the rows of a run go. */
  readonly #places = new Map<string, TimelineRow[]>();
  readonly #open = new Map<string, TimelineRow>();
  readonly #turns = new Map<string, number>();
  readonly #requests = new RequestBook();

  /** All rows in the order they are read in. */
  get rows(): TimelineRow[] {
    return flatten(this.#root);
  }

  add(entry: RunEntry): void {
    this.#start ??= entry.time;
    const at = entry.time - this.#start;
    this.summary = { ...this.summary, seconds: Math.max(this.summary.seconds, at) };
    const scope = entry.path.join("/");
    if (BEGINNINGS.has(entry.type)) this.#beginTurn(entry, at, scope);
    // The model has begun to answer: until here it was read to.
    if (entry.type !== "model-request") this.#end(`request ${scope}`, at);
    this.#addText(entry, at, scope);
    this.#addWork(entry, at, scope);
    this.#addFrame(entry, at, scope);
  }

  #addText(entry: RunEntry, at: number, scope: string): void {
    switch (entry.type) {
      case "model-request":
        this.#begin(`request ${scope}`, entry, at, { kind: "request", title: "", detail: this.#requests.read(entry) });
        return;
      case "text-start":
      case "reasoning-start": {
        const kind = entry.type === "text-start" ? "text" : "reasoning";
        this.#begin(`${kind} ${scope} ${entry.id}`, entry, at, { kind, title: "", detail: "" });
        return;
      }
      case "text-delta":
      case "reasoning-delta": {
        const row = this.#open.get(`${entry.type === "text-delta" ? "text" : "reasoning"} ${scope} ${entry.id}`);
        if (row !== undefined) row.detail = String(row.detail) + entry.delta;
        return;
      }
      case "text-end":
      case "reasoning-end":
        this.#end(`${entry.type === "text-end" ? "text" : "reasoning"} ${scope} ${entry.id}`, at);
    }
  }

  #addWork(entry: RunEntry, at: number, scope: string): void {
    switch (entry.type) {
      case "tool-input-end":
        this.summary = { ...this.summary, calls: this.summary.calls + 1 };
        this.#begin(`tool ${scope} ${entry.call_id}`, entry, at, {
          kind: "tool",
          title: entry.name,
          detail: { arguments: entry.args },
        });
        return;
      case "tool-end": {
        const row = this.#end(`tool ${scope} ${entry.call_id}`, at);
        if (row === null) return;
        row.isFailed = entry.status !== "ok";
        row.detail = { ...(row.detail as object), status: entry.status, result: entry.result, error: entry.error };
        return;
      }
      case "ask-request":
        this.#begin(`ask ${entry.ask_id}`, entry, at, { kind: "ask", title: entry.kind, detail: entry.payload });
        return;
      case "ask-answer": {
        const row = this.#end(`ask ${entry.ask_id}`, at);
        if (row !== null) row.detail = { question: row.detail, answer: entry.value };
      }
    }
  }

  #addFrame(entry: RunEntry, at: number, scope: string): void {
    const isRoot = entry.path.length < 2;
    switch (entry.type) {
      case "run-start": {
        if (isRoot) this.summary = { ...this.summary, agent: entry.agent, model: entry.model };
        const caller = this.#open.get(`tool ${entry.path.slice(0, -1).join("/")} ${entry.parent_call_id}`);
        if (caller !== undefined) this.#places.set(scope, caller.below);
        this.#begin(`run ${scope}`, entry, at, { kind: "run", title: entry.agent, detail: { model: entry.model } });
        return;
      }
      case "turn-end": {
        const usage = addUsage(this.summary.usage, entry.usage);
        this.summary = { ...this.summary, usage, turns: this.summary.turns + (isRoot ? 1 : 0) };
        this.#endTurn(at, scope, { finish_reason: entry.finish_reason, usage: entry.usage });
        return;
      }
      case "turn-reset":
        this.#endTurn(at, scope, { finish_reason: "turn-reset" });
        return;
      case "run-end":
        this.#endRun(entry, at, scope, isRoot);
    }
  }

  #beginTurn(entry: RunEntry, at: number, scope: string): void {
    if (this.#open.has(`turn ${scope}`)) return;
    const number = (this.#turns.get(scope) ?? 0) + 1;
    this.#turns.set(scope, number);
    this.#begin(`turn ${scope}`, entry, at, { kind: "turn", title: String(number), detail: {} });
  }

  #endTurn(at: number, scope: string, detail: object): void {
    const row = this.#end(`turn ${scope}`, at);
    if (row !== null) row.detail = detail;
  }

  #endRun(entry: Extract<RunEntry, { type: "run-end" }>, at: number, scope: string, isRoot: boolean): void {
    this.#endTurn(at, scope, {});
    const row = this.#end(`run ${scope}`, at);
    if (row !== null) {
      row.isFailed = entry.reason !== "goal";
      row.detail = { reason: entry.reason, result: entry.result, usage: entry.usage, error: entry.error };
    }
    if (!isRoot) return;
    const { reason, error, usage } = entry;
    this.summary = { ...this.summary, reason, error, usage, isOver: true };
  }

  #begin(key: string, entry: RunEntry, at: number, row: NewRow): void {
    const made: TimelineRow = {
      ...row,
      key: `${entry.number} ${key}`,
      depth: Math.max(0, entry.path.length - 1),
      start: at,
      duration: null,
      isFailed: false,
      below: [],
    };
    const place = this.#places.get(entry.path.join("/")) ?? this.#places.get(entry.path[0] ?? "") ?? this.#root;
    place.push(made);
    this.#open.set(key, made);
  }

  #end(key: string, at: number): TimelineRow | null {
    const row = this.#open.get(key);
    if (row === undefined) return null;
    row.duration = at - row.start;
    this.#open.delete(key);
    return row;
  }
}

function flatten(rows: readonly TimelineRow[]): TimelineRow[] {
  return rows.flatMap((row) => [row, ...flatten(row.below)]);
}
