/** What a conversation depends on, and what it exposes. */

import type { Schedule } from "@/features/chat/chat-state";
import type { Ask } from "@/protocol/ask";
import type { Chunk, MessagePart } from "@/protocol/message";
import type { Runs } from "@/protocol/run";
import type { SessionView, SiblingInfo } from "@/protocol/session";
import type { ChatTransport } from "@/transport/chat-transport";

/** The server's routes that a session uses in addition to the stream. */
export interface SessionBackend {
  view(id: string): Promise<SessionView | null>;
  moveHead(id: string, head: string): Promise<void>;
}

export type DataChunk = Extract<Chunk, { type: `data-${string}` }>;

export interface SessionEvents {
  onChange?: () => void;
  /** A run asks for something; the same ask may arrive again when a stream is rejoined. */
  onAsk?: (ask: Ask) => void;
}

export interface Outgoing {
  text: string;
  files?: Extract<MessagePart, { type: "file" }>[];
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
};

export interface SessionParts {
  transport: ChatTransport;
  backend: SessionBackend;
  events?: SessionEvents;
  schedule?: Schedule;
  /** The delays before each attempt to rejoin a broken answer, in milliseconds. */
  pauses?: readonly number[];
}
