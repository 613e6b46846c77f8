/** What the line of a call shows: its state in a word, its input and a short output. */

import { isOpenCall, type ToolPart, toolName } from "@/protocol/message";
import { isRecord, readableName } from "@/protocol/shapes";
import { type Text, titleIn } from "@/text/text";

export type CallState = "writing" | "waiting" | "running" | "done" | "failed" | "denied" | "interrupted";

/** `isLive` is false once the run has ended: calls that are open then will never complete. */
export function callState(part: ToolPart, isLive: boolean): CallState {
  if (part.state === "output-error") return wasInterrupted(part) ? "interrupted" : "failed";
  if (part.state === "output-denied") return "denied";
  if (!isOpenCall(part)) return "done";
  if (part.state === "approval-requested") return "waiting";
  if (!isLive) return "interrupted";
  return part.state === "input-streaming" ? "writing" : "running";
}

/** Whether the call ended because its run was stopped, not because it failed. */
function wasInterrupted(part: ToolPart): boolean {
  return part.toolMetadata?.["status"] === "interrupted";
}

/** What a call is named: by its title, and an agent's by the agent alone, whose title has the task as soon as it runs. */
export function callTitle(part: ToolPart, t: Text, isAgent = false): string {
  const title = part.title || toolName(part);
  return titleIn(t, readableName(isAgent ? title.replace(/: .*$/s, "") : title));
}

/** The most informative part of the input, short enough for one line. */
export function inputSummary(input: unknown): string {
  if (typeof input === "string") return shorten(input);
  if (!isRecord(input)) return input === undefined || input === null ? "" : shorten(JSON.stringify(input));
  const values = Object.entries(input).filter(([key]) => key !== "actionName");
  const plain = values.filter(([, value]) => typeof value !== "object" || value === null);
  const [first] = plain;
  if (first === undefined) return values.length > 0 ? shorten(JSON.stringify(Object.fromEntries(values))) : "";
  if (plain.length === 1) return shorten(String(first[1]));
  return shorten(plain.map(([key, value]) => `${key}: ${value}`).join(", "));
}

/** A short single-value output for the same line; longer ones are shown in the open card. */
export function outputSummary(part: ToolPart): string {
  if (part.state !== "output-available" || part.preliminary) return "";
  const { output } = part;
  const isPlain = typeof output === "string" || typeof output === "number" || typeof output === "boolean";
  const text = isPlain ? String(output).trim() : "";
  return text.length <= 40 && !text.includes("\n") ? text : "";
}

/** Why a person declined the call, in their words. */
export function declineReason(part: ToolPart): string {
  if (part.state !== "output-denied") return "";
  const reason = part.approval?.reason ?? "";
  return reason === "timeout" ? "" : reason.trim();
}

/** The first line of an output in words; the rest is shown in the open step. */
export function firstLine(part: ToolPart): string {
  if (part.state !== "output-available" || part.preliminary || typeof part.output !== "string") return "";
  const line = part.output.trim().split("\n", 1)[0] ?? "";
  return shorten(line.replace(/^#+ |\*\*|`/g, ""));
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}
