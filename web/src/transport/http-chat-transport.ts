/** The chat over HTTP: `POST /api/v1/chat`, and `GET …/stream` to rejoin an answer in progress. */

import { joinDeltas, parseChunk } from "@/protocol/chunk";
import type { ChatMessage, Chunk } from "@/protocol/message";
import { createEventReader } from "@/protocol/sse";
import type { ChatTransport } from "@/transport/chat-transport";
import { ServerError, send, sendJson } from "@/transport/http";

type SendOptions = Parameters<ChatTransport["sendMessages"]>[0];
type ReconnectOptions = Parameters<ChatTransport["reconnectToStream"]>[0];

export class HttpChatTransport implements ChatTransport {
  readonly resumeStreamIsReplay = true;

  constructor(
    private readonly tabId: string,
    private readonly base = "/api/v1",
  ) {}

  async sendMessages(options: SendOptions): Promise<ReadableStream<Chunk>> {
    const response = await send(`${this.base}/chat`, {
      method: "POST",
      headers: { accept: "text/event-stream", "content-type": "application/json" },
      body: JSON.stringify({
        ...options.body,
        id: options.chatId,
        messages: lastOf(options.messages),
        trigger: options.trigger,
        messageId: options.messageId,
        tab_id: this.tabId,
      }),
      signal: options.abortSignal ?? null,
    });
    return chunksOf(response);
  }

  async reconnectToStream(options: ReconnectOptions): Promise<ReadableStream<Chunk> | null> {
    const path = `${this.base}/chat/${encodeURIComponent(options.chatId)}/stream?tab_id=${this.tabId}`;
    try {
      const response = await send(path, {
        headers: { accept: "text/event-stream" },
        signal: options.abortSignal ?? null,
      });
      return response.status === 204 ? null : chunksOf(response);
    } catch (error) {
      if (error instanceof ServerError && error.status === 404) return null;
      throw error;
    }
  }

  async cancel(runId: string): Promise<void> {
    try {
      await sendJson("POST", `${this.base}/runs/${encodeURIComponent(runId)}/cancel`, { mode: "now" });
    } catch (error) {
      const hasEnded = error instanceof ServerError && (error.status === 404 || error.status === 409);
      if (!hasEnded) throw error;
    }
  }
}

/** Only the newest message is sent: the server has the rest of the conversation. */
function lastOf(messages: ChatMessage[]): ChatMessage[] {
  return messages.slice(-1);
}

/** The chunks of a response; a stream that ends too early is an error, never a silent stop. */
function chunksOf(response: Response): ReadableStream<Chunk> {
  const readEvents = createEventReader();
  let hasEnded = false;
  const transformer = new TransformStream<Uint8Array, Chunk>({
    transform(bytes, controller) {
      const chunks = readEvents(bytes)
        .map(parseChunk)
        .filter((chunk) => chunk !== null);
      for (const chunk of joinDeltas(chunks)) {
        hasEnded ||= chunk.type === "finish" || chunk.type === "abort" || chunk.type === "error";
        controller.enqueue(chunk);
      }
    },
    flush(controller) {
      if (!hasEnded) controller.error(new TypeError("network: the stream ended before the answer was complete"));
    },
  });
  return (response.body ?? new ReadableStream<Uint8Array>()).pipeThrough(transformer);
}
