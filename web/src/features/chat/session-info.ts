/** What a conversation needs of the outside, and what can be read of it. */

import type { Schedule } from "@/features/chat/chat-state";
import type { Ask } from "@/protocol/ask";
import type { Chunk, MessagePart } from "@/protocol/message";
import type { Runs } from "@/protocol/run";
import type { SessionView, SiblingInfo } from "@/protocol/session";
import type { ChatTransport } from "@/transport/chat-transport";

/** What a session asks of the server besides the stream itself. */
export interface SessionBackend {
  view(id: string): Promise<SessionView | null>;
  moveHead(id: string, head: string): Promise<void>;
}

export type DataChunk = Extract<Chunk, { type: `data-${string}` }>;

export interface SessionEvents {
  onChange?: () => void;
  /** A run asks for something; the same question may come again when a stream is joined again. */
  onAsk?: (ask: Ask) => void;
}

export interface Outgoing {
  text: string;
  files?: Extract<MessagePart, { type: "file" }>[];
}

export interface SessionInfo {
  readonly title: string;
  /** Who was chosen to answer here; null while the conversation goes on with whom it has. */
  readonly agent: string | null;
  readonly siblings: Readonly<Record<string, SiblingInfo>>;
  /** The runs of the sub-agents of the shown answers. */
  readonly subAgents: Runs;
  /** The questions that came with the stream, answered or not. */
  readonly asks: Readonly<Record<string, Ask>>;
  readonly isLoading: boolean;
  readonly loadError: Error | null;
  /** Whether the connection broke and is being made again. */
  readonly isMending: boolean;
}

export const NOTHING: SessionInfo = {
  title: "",
  agent: null,
  siblings: {},
  subAgents: {},
  asks: {},
  isLoading: false,
  loadError: null,
  isMending: false,
};

export interface SessionParts {
  transport: ChatTransport;
  backend: SessionBackend;
  events?: SessionEvents;
  schedule?: Schedule;
  /** How long to wait before each try to join a broken answer again, in milliseconds. */
  pauses?: readonly number[];
}
