/** A run's journal as rows on a time line: what began, how long it took, what came of it. */

import type { RunEntry, Usage } from "@/protocol/events.gen";

export type RowKind = "run" | "turn" | "text" | "reasoning" | "tool" | "ask";

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
}

export interface RunSummary {
  agent: string;
  model: string;
  reason: string | null;
  error: unknown;
  seconds: number;
  turns: number;
  calls: number;
  usage: Usage;
  isOver: boolean;
}

const NO_USAGE: Usage = { input_tokens: 0, output_tokens: 0, cached_tokens: 0, reasoning_tokens: 0, cost: null };

export class Timeline {
  readonly rows: TimelineRow[] = [];
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
  readonly #open = new Map<string, TimelineRow>();

  add(entry: RunEntry): void {
    this.#start ??= entry.time;
    const at = entry.time - this.#start;
    this.summary = { ...this.summary, seconds: Math.max(this.summary.seconds, at) };
    const scope = entry.path.join("/");
    const isRoot = entry.path.length < 2;
    switch (entry.type) {
      case "run-start":
        if (isRoot) this.summary = { ...this.summary, agent: entry.agent, model: entry.model };
        this.#begin(`run ${scope}`, entry, at, { kind: "run", title: entry.agent, detail: { model: entry.model } });
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
        return;
      default:
        this.#addWork(entry, at, scope, isRoot);
    }
  }

  #addWork(entry: RunEntry, at: number, scope: string, isRoot: boolean): void {
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
        return;
      }
      case "turn-end":
        if (isRoot) this.summary = { ...this.summary, turns: this.summary.turns + 1 };
        this.#begin(`turn ${scope} ${entry.turn}`, entry, at, {
          kind: "turn",
          title: String(entry.turn),
          detail: { finish_reason: entry.finish_reason, usage: entry.usage },
        });
        this.#end(`turn ${scope} ${entry.turn}`, at);
        return;
      case "run-end":
        this.#endRun(entry, at, scope, isRoot);
        return;
      default:
        return;
    }
  }

  #endRun(entry: Extract<RunEntry, { type: "run-end" }>, at: number, scope: string, isRoot: boolean): void {
    const row = this.#end(`run ${scope}`, at);
    if (row !== null) {
      row.isFailed = entry.reason !== "goal";
      row.detail = { reason: entry.reason, result: entry.result, usage: entry.usage, error: entry.error };
    }
    if (!isRoot) return;
    const { reason, error, usage } = entry;
    this.summary = { ...this.summary, reason, error, usage, isOver: true };
  }

  #begin(key: string, entry: RunEntry, at: number, row: Pick<TimelineRow, "kind" | "title" | "detail">): void {
    const made: TimelineRow = {
      ...row,
      key: `${entry.number} ${key}`,
      depth: Math.max(0, entry.path.length - 1),
      start: at,
      duration: null,
      isFailed: false,
    };
    this.rows.push(made);
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
