/** What a conversation depends on, and what it exposes. */

import type { Schedule } from "@/features/chat/chat-state";
import type { PendingMessage } from "@/features/chat/inbox";
import type { Ask } from "@/protocol/ask";
import type { Delivery, InboxMessage, MessageMode } from "@/protocol/inbox";
import type { Chunk, MessagePart } from "@/protocol/message";
import type { Runs } from "@/protocol/run";
import type { SessionOrigin, SessionView, SiblingInfo } from "@/protocol/session";
import type { ChatTransport } from "@/transport/chat-transport";

/** The server's routes that a session uses in addition to the stream. */
export interface SessionBackend {
  view(id: string): Promise<SessionView | null>;
  moveHead(id: string, head: string): Promise<void>;
  sendToRun(runId: string, parts: MessagePart[], mode: MessageMode): Promise<Delivery>;
  listInbox(id: string): Promise<InboxMessage[]>;
  removeFromInbox(id: string, messageId: string): Promise<void>;
}

export type DataChunk = Extract<Chunk, { type: `data-${string}` }>;

export interface SessionEvents {
  onChange?: () => void;
  /** A run asks for something; the same ask may arrive again when a stream is rejoined. */
  onAsk?: (ask: Ask) => void;
  /** The stored session was loaded. */
  onOpen?: () => void;
  /** A run was notified that something it had started has ended. */
  onNotice?: () => void;
}

export interface Outgoing {
  text: string;
  files?: Extract<MessagePart, { type: "file" }>[];
}

export function partsOf(message: Outgoing): MessagePart[] {
  const files = message.files ?? [];
  return message.text === "" ? files : [...files, { type: "text", text: message.text }];
}

export interface SessionInfo {
  readonly title: string;
  /** The chosen agent; null to continue with the present one. */
  readonly agent: string | null;
  readonly siblings: Readonly<Record<string, SiblingInfo>>;
  /** The runs of the sub-agents of the shown answers. */
  readonly subAgents: Runs;
  /** The asks that came with the stream, answered or not. */
  readonly asks: Readonly<Record<string, Ask>>;
  readonly isLoading: boolean;
  readonly loadError: Error | null;
  /** Whether the connection was lost and is being restored. */
  readonly isReconnecting: boolean;
  /** What was sent during an answer and is not taken yet. */
  readonly pending: readonly PendingMessage[];
  /** The session whose agent started this one. */
  readonly parentId: string | null;
  readonly origin: SessionOrigin | null;
}

export const NOTHING: SessionInfo = {
  title: "",
  agent: null,
  siblings: {},
  subAgents: {},
  asks: {},
  isLoading: false,
  loadError: null,
  isReconnecting: false,
  pending: [],
  parentId: null,
  origin: null,
};

export interface SessionParts {
  transport: ChatTransport;
  backend: SessionBackend;
  events?: SessionEvents;
  schedule?: Schedule;
  /** The delays before each attempt to rejoin a broken answer, in milliseconds. */
  pauses?: readonly number[];
}
