/** Passes asks for this browser to the executor. */

import type { BrowserCall, FrontendToolExecutor } from "@/features/browser-tools/executor";
import type { ChatSession } from "@/features/chat/chat-session";
import type { Ask } from "@/protocol/ask";
import { isToolPart, type ToolPart, toolName } from "@/protocol/message";
import { optionalText } from "@/protocol/shapes";

export class BrowserWatch {
  constructor(
    private readonly tabId: string,
    private readonly executor: FrontendToolExecutor,
  ) {}

  async take(ask: Ask, session: ChatSession): Promise<void> {
    if (ask.kind !== "browser") return;
    const owner = ask.payload["tab_id"];
    const call = callOf(ask, session, owner === undefined || owner === this.tabId);
    // Without the server the result cannot be delivered; the ask arrives again with the stream.
    if (call !== null) await this.executor.offer(call).catch(() => undefined);
  }
}

/** The tool and its input: from the ask, otherwise from the call it belongs to. */
function callOf(ask: Ask, session: ChatSession, isForThisTab: boolean): BrowserCall | null {
  const part = findCall(session, ask.callId);
  const name = optionalText(ask.payload["tool"]) ?? (part === null ? null : toolName(part));
  if (name === null) return null;
  const input = ask.payload["args"] ?? part?.input;
  return { askId: ask.id, callId: ask.callId, toolName: name, input, isForThisTab };
}

function findCall(session: ChatSession, callId: string): ToolPart | null {
  const calls = session.state.messages.flatMap((message) => message.parts.filter(isToolPart));
  return calls.find((part) => part.toolCallId === callId) ?? null;
}
