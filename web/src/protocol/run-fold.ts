/**
 * The one fold over the entries of a journal. Transcripts and the timeline show its result, live and after a reload,
 * so a page looks the same no matter when it was opened.
 */

import type { RunEntry } from "@/protocol/events.gen";
import { wordsOf } from "@/protocol/inbox";
import { isToolPart, type MessagePart, type ToolPart } from "@/protocol/message";
import { endState, type ModelRequest, NEW_RUN, type Run, type Runs, type Step, type TurnDetail } from "@/protocol/run";
import { isRecord, type Json, list, record, text } from "@/protocol/shapes";

type Event<Type extends RunEntry["type"]> = Extract<RunEntry, { type: Type }>;

/** Events that begin a turn if none is in progress. */
const TURN_STARTS = new Set<RunEntry["type"]>([
  "model-request",
  "text-start",
  "reasoning-start",
  "tool-input-start",
  "tool-input-end",
]);

/** The runs after one more entry; a run begins again at its `run-start`, and entries before it are skipped. */
export function foldEntry(runs: Runs, entry: RunEntry): Runs {
  const runId = entry.path.at(-1) ?? entry.run_id;
  const run = entry.type === "run-start" ? startRun(runId, entry) : runs[runId];
  return run === undefined ? runs : { ...runs, [runId]: { ...advance(run, entry), seen: entry.time } };
}

function startRun(runId: string, { path, agent, model, parent_call_id, number, time }: Event<"run-start">): Run {
  const known = { runId, path, parentCallId: parent_call_id, agent, model, number, start: time };
  return { ...NEW_RUN, ...known, state: "running", isWhole: true };
}

function advance(before: Run, entry: RunEntry): Run {
  if (entry.type === "model-progress") return before;
  const run = TURN_STARTS.has(entry.type) ? beginTurn(endRequest(before, entry), entry) : endRequest(before, entry);
  switch (entry.type) {
    case "model-request":
      return begin(run, entry, "request", { kind: "request", detail: requestOf(run, entry) });
    case "text-start":
    case "reasoning-start": {
      const kind = entry.type === "text-start" ? "text" : "reasoning";
      return begin(run, entry, `text ${entry.id}`, { kind, part: { type: kind, text: "", state: "streaming" } });
    }
    case "text-delta":
    case "reasoning-delta":
      return change(run, `text ${entry.id}`, ({ part }) => ({ part: grow(part, entry.delta) }));
    case "text-end":
    case "reasoning-end":
      return end(run, `text ${entry.id}`, entry, ({ part }) => ({ part: { ...part, state: "done" } as MessagePart }));
    case "user-message":
      return takeMessage(run, entry);
    case "turn-end":
      return endTurn(beginTurn(run, entry), entry, turnOf(entry));
    case "turn-reset":
      return endTurn(run, entry, { finish_reason: "turn-reset" });
    case "run-end": {
      const { reason, result, usage, error, limit, notice } = entry;
      const outcome = { reason, result, usage, error, limit, notice };
      return { ...endTurn(run, entry, {}), state: endState(reason), outcome };
    }
    default:
      return advanceCall(run, entry);
  }
}

function advanceCall(run: Run, entry: RunEntry): Run {
  switch (entry.type) {
    case "tool-input-start":
      return beginCall(run, entry);
    case "tool-input-end": {
      const id = `tool ${entry.call_id}`;
      const isOpen = run.steps.some((step) => step.id === id && step.end === null);
      const begun = isOpen ? run : beginCall(run, entry);
      return change(changeCall(begun, id, { state: "input-available", input: entry.args }), id, () => ({
        start: entry.time,
      }));
    }
    case "tool-start":
      return changeCall(run, `tool ${entry.call_id}`, { title: entry.title, toolMetadata: { kind: entry.kind } });
    case "tool-progress":
      return changeCall(run, `tool ${entry.call_id}`, {
        state: "output-available",
        output: entry.output,
        preliminary: true,
      });
    case "tool-stall": {
      const { seconds, where } = entry;
      return change(run, `tool ${entry.call_id}`, () => ({ detail: { blocked: { seconds, where } } }));
    }
    case "tool-end": {
      const { status, result, error } = entry;
      const timed = change(run, `tool ${entry.call_id}`, ({ part }) => ({ part: addEnd(part, entry) }));
      const done = changeCall(timed, `tool ${entry.call_id}`, endOf(entry));
      return end(done, `tool ${entry.call_id}`, entry, ({ detail }) => ({
        detail: { ...record(detail), status, result, error },
      }));
    }
    case "ask-request": {
      const asked = entry.kind === "approval" ? changeCall(run, `tool ${entry.call_id}`, questionOf(entry)) : run;
      return begin(asked, entry, `ask ${entry.ask_id}`, { kind: "ask", title: entry.kind, detail: entry.payload });
    }
    case "ask-answer":
      return answer(run, entry);
    default:
      return run;
  }
}

type NewStep = Pick<Step, "kind"> & Partial<Step>;

function begin(run: Run, { number, time }: RunEntry, id: string, step: NewStep): Run {
  const begun: Step = { id, title: "", number, start: time, end: null, part: null, detail: null, ...step };
  return { ...run, steps: [...run.steps, begun] };
}

/** Changes the open step with this id, if any. */
function change(run: Run, id: string, changed: (step: Step) => Partial<Step>): Run {
  const index = run.steps.findLastIndex((step) => step.id === id && step.end === null);
  const step = run.steps[index];
  if (step === undefined) return run;
  const steps = [...run.steps];
  steps[index] = { ...step, ...changed(step) };
  return { ...run, steps };
}

function end(run: Run, id: string, { time }: RunEntry, changed: (step: Step) => Partial<Step> = () => ({})): Run {
  return change(run, id, (step) => ({ ...changed(step), end: time }));
}

function beginTurn(run: Run, entry: RunEntry): Run {
  const turns = run.steps.filter((step) => step.kind === "turn");
  if (turns.at(-1)?.end === null) return run;
  return begin(run, entry, "turn", { kind: "turn", title: String(turns.length + 1), detail: {} });
}

function endTurn(run: Run, entry: RunEntry, detail: TurnDetail): Run {
  return end(run, "turn", entry, () => ({ detail }));
}

function turnOf({ finish_reason, usage, timing }: Event<"turn-end">): TurnDetail {
  return timing === null ? { finish_reason, usage } : { finish_reason, usage, timing };
}

/** A request lasts until the model begins to answer. */
function endRequest(run: Run, entry: RunEntry): Run {
  return run.steps.at(-1)?.kind === "request" ? end(run, "request", entry) : run;
}

/** The whole request; its entry has only the messages that the previous one did not have. */
function requestOf(run: Run, entry: Event<"model-request">): ModelRequest {
  const isSummary = entry.purpose === "summary";
  const requests = run.steps.filter((step) => step.kind === "request").map((step) => step.detail as ModelRequest);
  const previous = requests.findLast((request) => !request.isSummary)?.messages ?? [];
  const kept = isSummary ? [] : previous.slice(0, entry.kept);
  return {
    model: entry.model,
    messages: [...kept, ...list(entry.messages).filter(isRecord)],
    kept: kept.length,
    tools: list(entry.tools).map(String),
    toolChoice: text(entry.tool_choice, "auto"),
    isSummary,
  };
}

function grow(part: MessagePart | null, delta: string): MessagePart | null {
  return part?.type === "text" || part?.type === "reasoning" ? { ...part, text: part.text + delta } : part;
}

function takeMessage(run: Run, entry: Event<"user-message">): Run {
  const id = `message ${entry.message_id}`;
  const { kind, parts } = entry;
  const part = { type: "data-user-message", id: entry.message_id, data: { kind, parts } } as const;
  const detail = wordsOf(parts as unknown[] as MessagePart[]);
  return end(begin(run, entry, id, { kind: "message", part, detail }), id, entry);
}

function beginCall(run: Run, entry: Event<"tool-input-start" | "tool-input-end">): Run {
  const call = { type: "dynamic-tool", toolName: entry.name, toolCallId: entry.call_id } as const;
  const part: ToolPart = { ...call, state: "input-streaming", input: undefined };
  return begin(run, entry, `tool ${entry.call_id}`, { kind: "tool", title: entry.name, part });
}

function changeCall(run: Run, id: string, changes: Json): Run {
  return change(run, id, ({ part }) => ({ part: { ...part, ...changes } as ToolPart }));
}

function addEnd(part: MessagePart | null, { status, duration }: Event<"tool-end">): MessagePart | null {
  if (part === null || !isToolPart(part)) return part;
  return { ...part, toolMetadata: { ...part.toolMetadata, status, duration } };
}

function questionOf({ ask_id, payload }: Event<"ask-request">): Json {
  const approval = { id: ask_id, requestReason: text(payload["reason"]) };
  const title = text(payload["title"]);
  return { state: "approval-requested", approval, ...(title === "" ? {} : { title }) };
}

function answer(run: Run, entry: Event<"ask-answer">): Run {
  const { ask_id: id, value } = entry;
  const ended = end(run, `ask ${id}`, entry, ({ detail }) => ({ detail: { question: detail, answer: value } }));
  const call = ended.steps.findLast(({ part }) => part !== null && isToolPart(part) && part.approval?.id === id);
  const approval = { id, approved: record(value)["approved"] === true };
  return call === undefined ? ended : changeCall(ended, call.id, { state: "approval-responded", approval });
}

function endOf({ status, result, error }: Event<"tool-end">): Json {
  if (status === "denied") return { state: "output-denied" };
  if (status !== "ok") return { state: "output-error", errorText: text(record(error)["message"], status) };
  return { state: "output-available", output: shownResult(result), preliminary: false };
}

/** The part of a result for people: its display, otherwise its data, otherwise the text for the model. */
function shownResult(result: unknown): unknown {
  const { return_display: display, data, llm_content: content } = record(result);
  return display ?? data ?? content ?? result;
}
