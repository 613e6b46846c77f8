/** A call of a tool that a person tries: it may ask them first, or act in their tab. Free of React. */

import type { RunEntry } from "@/protocol/events.gen";
import { isRecord, number, optionalText, record, text } from "@/protocol/shapes";
import { Store } from "@/ui/store";

export interface TrialBackend {
  /** Starts the call and returns its run. */
  start(tool: string, args: Record<string, unknown>): Promise<string>;
  follow(runId: string, signal: AbortSignal): AsyncIterable<RunEntry[]>;
  outcome(runId: string): Promise<unknown>;
  answer(askId: string, isAllowed: boolean): Promise<void>;
  cancel(runId: string): Promise<void>;
  /** Carries out what a browser tool asks of this tab. */
  act(call: { askId: string; callId: string; toolName: string; input: unknown }): void;
}

export interface TrialQuestion {
  askId: string;
  reason: string | null;
}

export type TrialState = {
  readonly phase: "idle" | "running" | "done" | "failed";
  readonly question: TrialQuestion | null;
  /** The result, or what went wrong in the tool. */
  readonly text: string;
  /** Why the call could not even be made. */
  readonly error: unknown;
  readonly seconds: number | null;
};

const IDLE: TrialState = { phase: "idle", question: null, text: "", error: null, seconds: null };

export class TrialStore extends Store<TrialState> {
  #leaving: AbortController | null = null;
  #runId: string | null = null;

  constructor(private readonly backend: TrialBackend) {
    super(IDLE);
  }

  async run(tool: string, args: Record<string, unknown>): Promise<void> {
    const leaving = new AbortController();
    this.#leaving = leaving;
    this.change({ ...IDLE, phase: "running" });
    try {
      this.#runId = await this.backend.start(tool, args);
      for await (const entries of this.backend.follow(this.#runId, leaving.signal)) {
        for (const entry of entries) this.#take(entry);
      }
      this.change({ ...IDLE, ...outcomeOf(await this.backend.outcome(this.#runId)) });
    } catch (error) {
      if (leaving.signal.aborted) return;
      this.change({ ...IDLE, phase: "failed", error });
    } finally {
      this.#runId = null;
    }
  }

  async answer(isAllowed: boolean): Promise<void> {
    const { question } = this.read();
    if (question === null) return;
    this.change({ question: null });
    await this.backend.answer(question.askId, isAllowed).catch(() => this.change({ question }));
  }

  /** The form is gone: a call whose question waits is cancelled, one at work continues. */
  leave(): void {
    this.#leaving?.abort();
    if (this.#runId !== null && this.read().question !== null)
      void this.backend.cancel(this.#runId).catch(() => undefined);
  }

  #take(entry: RunEntry): void {
    if (entry.type === "ask-answer") this.change({ question: null });
    if (entry.type !== "ask-request") return;
    const { ask_id: askId, call_id: callId, payload } = entry;
    if (entry.kind === "approval") this.change({ question: { askId, reason: optionalText(payload["reason"]) } });
    if (entry.kind === "browser")
      this.backend.act({ askId, callId, toolName: text(payload["tool"]), input: payload["args"] });
  }
}

/** The result of a call: its error message, otherwise its data, otherwise the text for the model. */
function outcomeOf(answer: unknown): Partial<TrialState> {
  const { error, result, duration } = record(answer);
  const seconds = number(duration);
  if (isRecord(error)) return { phase: "failed", text: text(error["message"]), seconds };
  const { return_display: display, data, llm_content: content } = record(result);
  const value = display ?? data ?? content ?? result;
  return { phase: "done", text: typeof value === "string" ? value : JSON.stringify(value, null, 2), seconds };
}
