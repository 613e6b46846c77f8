/** The transport of a chat: the AI SDK's own contract, plus cancelling the run. */

import type { ChatTransport as SdkTransport } from "ai";
import type { ChatMessage } from "@/protocol/message";

export interface ChatTransport extends SdkTransport<ChatMessage> {
  /** Cancels the run itself; the SDK's `stop` only disconnects from its stream. */
  cancel(runId: string): Promise<void>;
}
