/** The messages of a chat as the AI SDK keeps them, with the additions of our server. */

import type { DynamicToolUIPart, ToolUIPart, UIMessage, UIMessageChunk } from "ai";

export interface Usage {
  input_tokens?: number;
  output_tokens?: number;
  cost?: number | null;
}

export interface MessageMetadata {
  session_id?: string;
  run_id?: string;
  agent?: string;
  parent_id?: string | null;
  model?: string;
  usage?: Usage;
  duration?: number;
  /** How the run ended. */
  reason?: string;
  /** The limit after which a last turn saved the answer, and which limit was reached, in words. */
  limit?: string | null;
  notice?: string;
  /** Why the answer is not whole: `length`, `content-filter`, or `repetition`. */
  cut?: string;
  /** `remedy` is where it is repaired: `keys` or `models`. */
  error?: { type?: string; message?: string; hint?: string; remedy?: string };
}

export type DataParts = Record<string, unknown>;

export type ChatMessage = UIMessage<MessageMetadata, DataParts>;
export type MessagePart = ChatMessage["parts"][number];
export type ToolPart = ToolUIPart | DynamicToolUIPart;
export type Chunk = UIMessageChunk<MessageMetadata, DataParts>;

export function isToolPart(part: MessagePart): part is ToolPart {
  return part.type === "dynamic-tool" || part.type.startsWith("tool-");
}

export function toolName(part: ToolPart): string {
  return part.type === "dynamic-tool" ? part.toolName : part.type.slice("tool-".length);
}

/** Whether a call still waits for its result. */
export function isOpenCall(part: ToolPart): boolean {
  if (part.state === "output-available") return part.preliminary === true;
  return part.state !== "output-error" && part.state !== "output-denied";
}

/** The plain text of a message, for copying. */
export function messageText(message: ChatMessage): string {
  return message.parts
    .filter((part) => part.type === "text")
    .map((part) => part.text)
    .join("\n\n");
}
