/** The transcript of a sub-agent, built from the events of its run. */

import type { AskRequestEvent, RunEntry, ToolEndEvent, ToolInputEndEvent } from "@/protocol/events.gen";
import type { MessagePart, ToolPart } from "@/protocol/message";
import { isRecord, list, optionalText, record, text } from "@/protocol/shapes";

export type SubAgentState = "running" | "done" | "failed" | "stopped";

export interface SubAgentStream {
  readonly runId: string;
  /** The run at the top, whose journal holds this one. */
  readonly rootRunId: string;
  /** The run that started this one. */
  readonly parentRunId: string;
  /** The call of the parent that started this run. */
  readonly parentCallId: string | null;
  readonly agent: string;
  readonly state: SubAgentState;
  readonly parts: readonly MessagePart[];
  /** False when only its beginning and end are known, and the journal has the rest. */
  readonly isWhole: boolean;
}

export type SubAgentStreams = Readonly<Record<string, SubAgentStream>>;

/** A sub-agent as a stored message tells of it (`data-subagent`), without what it said. */
export function streamOf(data: unknown): SubAgentStream | null {
  if (!isRecord(data) || typeof data["run_id"] !== "string") return null;
  return {
    runId: data["run_id"],
    rootRunId: text(list(data["path"])[0], data["run_id"]),
    parentRunId: text(list(data["path"]).at(-2)),
    parentCallId: optionalText(data["parent_call_id"]),
    agent: text(data["agent"]),
    state: data["state"] === "running" ? "running" : endState(text(data["reason"])),
    parts: [],
    isWhole: false,
  };
}

/** The streams after one more event; events of the root run and of unknown runs change nothing. */
export function reduceEntry(streams: SubAgentStreams, entry: RunEntry): SubAgentStreams {
  const runId = entry.path.at(-1) ?? entry.run_id;
  if (entry.path.length < 2) return streams;
  if (entry.type === "run-start") {
    const started: SubAgentStream = {
      runId,
      rootRunId: entry.path[0] ?? runId,
      parentRunId: entry.path.at(-2) ?? "",
      parentCallId: entry.parent_call_id,
      agent: entry.agent,
      state: "running",
      parts: [],
      isWhole: true,
    };
    return { ...streams, [runId]: started };
  }
  const stream = streams[runId];
  return stream === undefined ? streams : { ...streams, [runId]: advance(stream, entry) };
}

function advance(stream: SubAgentStream, entry: RunEntry): SubAgentStream {
  switch (entry.type) {
    case "text-start":
      return add(stream, { type: "text", text: "", state: "streaming" });
    case "reasoning-start":
      return add(stream, { type: "reasoning", text: "", state: "streaming" });
    case "text-delta":
      return grow(stream, "text", entry.delta);
    case "reasoning-delta":
      return grow(stream, "reasoning", entry.delta);
    case "text-end":
    case "reasoning-end":
      return endText(stream);
    case "tool-input-start":
      return add(stream, {
        type: "dynamic-tool",
        toolName: entry.name,
        toolCallId: entry.call_id,
        state: "input-streaming",
        input: undefined,
      });
    case "tool-input-end":
      return setCall(stream, entry.call_id, () => calledWith(entry));
    case "tool-start":
      return setCall(stream, entry.call_id, (part) => ({ ...part, title: entry.title }));
    case "tool-progress":
      return setCall(stream, entry.call_id, (part) => withOutput(part, entry.output, true));
    case "tool-end":
      return setCall(stream, entry.call_id, (part) => ended(part, entry));
    case "ask-request":
      return entry.kind === "approval" ? setCall(stream, entry.call_id, (part) => asked(part, entry)) : stream;
    case "ask-answer":
      return answered(stream, entry.ask_id, entry.value);
    case "run-end":
      return { ...stream, state: endState(entry.reason) };
    default:
      return stream;
  }
}

/** Whether this sub-agent, or one below it, waits for an answer. */
export function waitsForAnswer(stream: SubAgentStream, streams: SubAgentStreams): boolean {
  if (stream.state !== "running") return false;
  if (stream.parts.some((part) => "toolCallId" in part && part.state === "approval-requested")) return true;
  return Object.values(streams).some((one) => one.parentRunId === stream.runId && waitsForAnswer(one, streams));
}

function endState(reason: string): SubAgentState {
  if (reason === "goal") return "done";
  return reason === "cancelled" || reason === "interrupted" ? "stopped" : "failed";
}

function add(stream: SubAgentStream, part: MessagePart): SubAgentStream {
  return { ...stream, parts: [...stream.parts, part] };
}

function grow(stream: SubAgentStream, type: "text" | "reasoning", delta: string): SubAgentStream {
  const last = stream.parts.at(-1);
  if (last === undefined || last.type !== type) return add(stream, { type, text: delta, state: "streaming" });
  return { ...stream, parts: [...stream.parts.slice(0, -1), { ...last, text: last.text + delta }] };
}

function endText(stream: SubAgentStream): SubAgentStream {
  const last = stream.parts.at(-1);
  if (last === undefined || (last.type !== "text" && last.type !== "reasoning")) return stream;
  return { ...stream, parts: [...stream.parts.slice(0, -1), { ...last, state: "done" }] };
}

function setCall(stream: SubAgentStream, callId: string, change: (part: ToolPart) => ToolPart): SubAgentStream {
  const isWanted = (part: MessagePart): part is ToolPart => "toolCallId" in part && part.toolCallId === callId;
  const isKnown = stream.parts.some(isWanted);
  const parts = isKnown ? stream.parts : [...stream.parts, emptyCall(callId)];
  return { ...stream, parts: parts.map((part) => (isWanted(part) ? change(part) : part)) };
}

function emptyCall(callId: string): ToolPart {
  return { type: "dynamic-tool", toolName: "", toolCallId: callId, state: "input-available", input: {} };
}

function asked(part: ToolPart, entry: AskRequestEvent): ToolPart {
  const approval = { id: entry.ask_id, requestReason: text(entry.payload["reason"]) };
  const title = text(entry.payload["title"]) || part.title;
  return { ...part, title, state: "approval-requested", approval } as ToolPart;
}

function answered(stream: SubAgentStream, askId: string, value: unknown): SubAgentStream {
  const approved = record(value)["approved"] === true;
  const parts = stream.parts.map((part) =>
    "toolCallId" in part && part.approval?.id === askId && part.state === "approval-requested"
      ? ({ ...part, state: "approval-responded", approval: { id: askId, approved } } as ToolPart)
      : part,
  );
  return { ...stream, parts };
}

function calledWith(entry: ToolInputEndEvent): ToolPart {
  return {
    type: "dynamic-tool",
    toolName: entry.name,
    toolCallId: entry.call_id,
    state: "input-available",
    input: entry.args,
  };
}

function withOutput(part: ToolPart, output: unknown, preliminary: boolean): ToolPart {
  return { ...part, state: "output-available", output, preliminary } as ToolPart;
}

function ended(part: ToolPart, entry: ToolEndEvent): ToolPart {
  const timed = { ...part, toolMetadata: { duration: entry.duration } };
  if (entry.status === "ok") return withOutput(timed, shownResult(entry.result), false);
  if (entry.status === "denied") return { ...timed, state: "output-denied" } as ToolPart;
  const errorText = text(record(entry.error)["message"], entry.status);
  return { ...timed, state: "output-error", errorText } as ToolPart;
}

/** What people see of a result: its display, else what the model was given. */
function shownResult(result: unknown): unknown {
  const { return_display: display, data, llm_content: content } = record(result);
  return display ?? data ?? content ?? result;
}
