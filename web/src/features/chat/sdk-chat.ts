/** The AI SDK's chat, which says when an answer begins and which run it comes from. */

import { AbstractChat, type ChatStatus } from "ai";
import type { ChatMessage } from "@/protocol/message";

export class SdkChat extends AbstractChat<ChatMessage> {
  /** Called when an answer begins to arrive; by then the server has stored the question. */
  onStart: () => void = () => {};

  get isBusy(): boolean {
    return this.status === "submitted" || this.status === "streaming";
  }

  /** The newest run. */
  get runId(): string | null {
    return this.messages.findLast((message) => message.metadata?.run_id)?.metadata?.run_id ?? null;
  }

  /** The run of the answer at the end; null if the last message is a question. */
  get lastRunId(): string | null {
    return this.lastMessage?.role === "assistant" ? (this.lastMessage.metadata?.run_id ?? null) : null;
  }

  protected override setStatus(change: { status: ChatStatus; error?: Error }): void {
    const isStart = change.status === "streaming" && this.status !== "streaming";
    super.setStatus(change);
    if (isStart) this.onStart();
  }
}
