/** What a model was asked, put together from a journal that holds each message once. */

import type { ModelRequestedEvent, RunEntry } from "@/protocol/events.gen";
import { isRecord, list, record, text } from "@/protocol/shapes";

type Json = Record<string, unknown>;

/** One request as it was sent. */
export interface ModelQuestion {
  model: string;
  messages: readonly Json[];
  /** How many of them the request before had too. */
  kept: number;
  tools: readonly string[];
  toolChoice: string;
  isSummary: boolean;
}

/** Remembers the last request of every run, for the next one goes on where it ended. */
export class RequestBook {
  readonly #last = new Map<string, readonly Json[]>();

  read(entry: RunEntry & ModelRequestedEvent): ModelQuestion {
    const scope = entry.path.join("/");
    const isSummary = entry.purpose === "summary";
    const before = isSummary ? [] : (this.#last.get(scope) ?? []).slice(0, entry.kept);
    const messages = [...before, ...list(entry.messages).filter(isRecord)];
    if (!isSummary) this.#last.set(scope, messages);
    return {
      model: entry.model,
      messages,
      kept: before.length,
      tools: list(entry.tools).map(String),
      toolChoice: text(entry.tool_choice, "auto"),
      isSummary,
    };
  }
}

/** A piece of a message in words a person reads. */
export type MessagePiece =
  | { kind: "text"; text: string }
  | { kind: "call"; name: string; id: string; text: string }
  | { kind: "data"; name: string; text: string };

/** A message's content and calls, in order. */
export function piecesOf(message: Json): MessagePiece[] {
  const { content } = message;
  const said: MessagePiece[] =
    typeof content === "string"
      ? content === ""
        ? []
        : [{ kind: "text", text: content }]
      : list(content).map((part) => pieceOf(record(part)));
  return [...said, ...list(message["tool_calls"]).map((call) => callOf(record(call)))];
}

function pieceOf(part: Json): MessagePiece {
  if (part["type"] === "text") return { kind: "text", text: text(part["text"]) };
  const { type, ...rest } = part;
  return { kind: "data", name: text(type, "data"), text: JSON.stringify(rest, null, 2) };
}

function callOf(call: Json): MessagePiece {
  const { name, arguments: args } = record(call["function"]);
  return { kind: "call", name: text(name), id: text(call["id"]), text: readable(args) };
}

/** Arguments as they were written, set in lines when they are JSON. */
function readable(args: unknown): string {
  if (typeof args !== "string") return JSON.stringify(args ?? {}, null, 2);
  try {
    return JSON.stringify(JSON.parse(args), null, 2);
  } catch {
    return args;
  }
}
