/** The messages of a request in readable form. */

import { type Json, list, record, text } from "@/protocol/shapes";

/** A piece of a message. */
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

/** The arguments as they were written, indented if they are JSON. */
function readable(args: unknown): string {
  if (typeof args !== "string") return JSON.stringify(args ?? {}, null, 2);
  try {
    return JSON.stringify(JSON.parse(args), null, 2);
  } catch {
    return args;
  }
}
