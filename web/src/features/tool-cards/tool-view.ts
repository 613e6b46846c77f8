/** What a tool card shows of a call: its state in a word, its input in a line, its output by shape. */

import { isOpenCall, type ToolPart, toolName } from "@/protocol/message";
import { isRecord, readableName } from "@/protocol/shapes";

export type CallState = "writing" | "waiting" | "running" | "done" | "failed" | "denied" | "interrupted";

/** `isLive` is false once the run has ended: calls that are open then will never complete. */
export function callState(part: ToolPart, isLive: boolean): CallState {
  if (part.state === "output-error") return "failed";
  if (part.state === "output-denied") return "denied";
  if (!isOpenCall(part)) return "done";
  if (part.state === "approval-requested") return "waiting";
  if (!isLive) return "interrupted";
  return part.state === "input-streaming" ? "writing" : "running";
}

export function callTitle(part: ToolPart): string {
  return readableName(part.title || toolName(part));
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

function shorten(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}

export type OutputView =
  | { shape: "none" }
  | { shape: "text"; text: string }
  | { shape: "diff"; text: string }
  | { shape: "image"; address: string }
  | { shape: "table"; columns: string[]; rows: unknown[][] }
  | { shape: "json"; value: unknown };

/** Chooses how to show an output. */
export function outputView(output: unknown): OutputView {
  if (output === null || output === undefined || output === "") return { shape: "none" };
  if (typeof output === "string") return textView(output);
  if (isRecord(output)) return recordView(output);
  return tableView(output) ?? { shape: "json", value: output };
}

function textView(text: string): OutputView {
  if (/^data:image\/(png|jpeg|gif|webp);base64,/.test(text)) return { shape: "image", address: text };
  if (/^(diff --git|--- .+\n\+\+\+ |@@ -\d)/m.test(text) && /^[+-]/m.test(text)) return { shape: "diff", text };
  if (/^\s*[[{]/.test(text)) {
    try {
      return outputView(JSON.parse(text));
    } catch {
      return { shape: "text", text };
    }
  }
  return { shape: "text", text };
}

function recordView(output: Record<string, unknown>): OutputView {
  const { diff, type, data, mimeType } = output;
  if (typeof diff === "string") return { shape: "diff", text: diff };
  if (type === "image" && typeof data === "string") {
    const kind = typeof mimeType === "string" ? mimeType : "image/png";
    return { shape: "image", address: `data:${kind};base64,${data}` };
  }
  const entries = Object.entries(output);
  const only = entries.length === 1 ? entries[0]?.[1] : undefined;
  return tableView(only) ?? { shape: "json", value: output };
}

/** Records with the same keys form a table. */
function tableView(output: unknown): OutputView | null {
  if (!Array.isArray(output) || output.length < 2 || !output.every(isRecord)) return null;
  const columns = Object.keys(output[0] ?? {});
  const isEven = output.every((row) => Object.keys(row).join() === columns.join());
  if (!isEven || columns.length === 0 || columns.length > 8) return null;
  return { shape: "table", columns, rows: output.map((row) => columns.map((column) => row[column])) };
}
