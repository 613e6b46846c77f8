/** The AI SDK's chat, which says which run an answer comes from, and when another one was faster. */

import { AbstractChat, type ChatStatus } from "ai";
import type { LiveChatState } from "@/features/chat/chat-state";
import type { ChatMessage } from "@/protocol/message";
import type { ChatTransport } from "@/transport/chat-transport";
import { ServerError } from "@/transport/http";

/** The transport, with a word when the server has stored a question: its answer may take a while to begin. */
export function announcing(
  transport: ChatTransport,
  onStored: () => void,
): Pick<ChatTransport, "sendMessages" | "reconnectToStream"> & { resumeStreamIsReplay: true } {
  return {
    resumeStreamIsReplay: true,
    reconnectToStream: (options) => transport.reconnectToStream(options),
    sendMessages: async (options) => {
      const stream = await transport.sendMessages(options);
      onStored();
      return stream;
    },
  };
}

export class SdkChat extends AbstractChat<ChatMessage> {
  /** Whether the last request was refused because another tab's answer is in progress. */
  wasTooLate = false;

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

  /** The run in progress, as soon as the server has begun it; null if it fails to. */
  begun(state: LiveChatState, isInProgress: () => boolean): Promise<string | null> {
    return new Promise((resolve) => {
      const look = () => {
        if (this.lastRunId === null && isInProgress()) return;
        leave();
        resolve(isInProgress() ? this.lastRunId : null);
      };
      const leave = state.subscribe(look);
      look();
    });
  }

  protected override setStatus(change: { status: ChatStatus; error?: Error }): void {
    this.wasTooLate = change.error instanceof ServerError && change.error.status === 409;
    super.setStatus(this.wasTooLate ? { status: "ready" } : change);
  }
}
