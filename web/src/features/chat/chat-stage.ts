import { ChatSession } from "@/features/chat/chat-session";
import type { Delivery, InboxMessage, MessageMode } from "@/protocol/inbox";
import type { ChatMessage, Chunk, MessagePart } from "@/protocol/message";
import type { ChoiceChange, SessionView, Stretch } from "@/protocol/session";
import type { ChatTransport } from "@/transport/chat-transport";

type Sent = Parameters<ChatTransport["sendMessages"]>[0];

/** A minimal server: it plays chunks and records what it was sent. */
export class Stage implements ChatTransport {
  readonly resumeStreamIsReplay = true;
  readonly sent: Sent[] = [];
  readonly cancelled: string[] = [];
  readonly heads: string[] = [];
  readonly changes: ChoiceChange[] = [];
  readonly deleted: string[] = [];
  stored: SessionView | null = null;
  running: Chunk[] | null = null;
  failure: Error | null = null;
  readonly delivered: Array<{ runId: string; mode: MessageMode; text: string }> = [];
  inbox: InboxMessage[] = [];
  deliver: () => Promise<Delivery> = async () => ({ id: "m1", mode: "steer" });

  constructor(private readonly answers: Chunk[][]) {}

  async sendMessages(options: Sent): Promise<ReadableStream<Chunk>> {
    this.sent.push({ ...options, messages: structuredClone(options.messages) });
    if (this.failure !== null) throw this.failure;
    return streamOf(this.answers.shift() ?? []);
  }

  async reconnectToStream(): Promise<ReadableStream<Chunk> | null> {
    return this.running === null ? null : streamOf(this.running);
  }

  async cancel(runId: string): Promise<void> {
    this.cancelled.push(runId);
  }

  async view(_id: string, _wanted: Stretch): Promise<SessionView | null> {
    return this.stored;
  }

  async moveHead(_id: string, head: string): Promise<void> {
    this.heads.push(head);
  }

  async changeChoice(_id: string, change: ChoiceChange): Promise<void> {
    this.changes.push(change);
    if (this.failure !== null) throw this.failure;
  }

  async deleteMessage(_id: string, messageId: string): Promise<void> {
    this.deleted.push(messageId);
  }

  async sendToRun(runId: string, parts: MessagePart[], mode: MessageMode): Promise<Delivery> {
    this.delivered.push({ runId, mode, text: parts.map((part) => (part.type === "text" ? part.text : "")).join("") });
    return this.deliver();
  }

  async listInbox(): Promise<InboxMessage[]> {
    return this.inbox;
  }

  async removeFromInbox(_id: string, messageId: string): Promise<void> {
    this.inbox = this.inbox.filter((one) => one.id !== messageId);
  }

  session(): ChatSession {
    return new ChatSession("s", { transport: this, backend: this, schedule: (publish) => publish(), pauses: [0, 0] });
  }
}

export function streamOf(chunks: Chunk[]): ReadableStream<Chunk> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

export function says(text: string, id = "a1", runId = "r1"): Chunk[] {
  return [
    { type: "start", messageId: id, messageMetadata: { run_id: runId } },
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: text },
    { type: "text-end", id: "t" },
    { type: "finish" },
  ];
}

export function message(id: string, role: "user" | "assistant", text: string): ChatMessage {
  return { id, role, parts: [{ type: "text", text }] };
}

export function view(messages: ChatMessage[], runId: string | null = null): SessionView {
  const siblings = Object.fromEntries(
    messages.map((one) => [one.id, { index: 0, total: 1, previous: null, next: null }]),
  );
  return { title: "A title", runId, messages, siblings };
}

export const texts = (session: ChatSession) =>
  session.state.read().messages.map((one) => one.parts.map((part) => (part.type === "text" ? part.text : part.type)));
