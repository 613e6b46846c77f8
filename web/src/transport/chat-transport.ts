/** What a chat needs of the outside: the AI SDK's own contract, and what it lacks (stopping a run for everyone). */

import type { ChatTransport as SdkTransport } from "ai";
import type { ChatMessage } from "@/protocol/message";

export interface ChatTransport extends SdkTransport<ChatMessage> {
  /** Ends the run itself; the SDK's `stop` only leaves its stream. */
  cancel(runId: string): Promise<void>;
}
