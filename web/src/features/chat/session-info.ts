/** What a conversation depends on, and what it exposes. */

import type { ChoiceDefaults } from "@/features/chat/chat-options";
import type { Schedule } from "@/features/chat/chat-state";
import type { PendingMessage } from "@/features/chat/inbox";
import type { Ask } from "@/protocol/ask";
import type { Delivery, InboxMessage, MessageMode } from "@/protocol/inbox";
import type { ChatMessage, Chunk, MessagePart } from "@/protocol/message";
import type { ModelProgress } from "@/protocol/model-progress";
import type { Runs } from "@/protocol/run";
import type { ChoiceChange, SessionOrigin, SessionView, SiblingInfo, Stretch } from "@/protocol/session";
import type { ChatTransport } from "@/transport/chat-transport";

/** How many messages are loaded, or rendered, at a time. */
export const PAGE = 40;

/** The server's routes that a session uses in addition to the stream. */
export interface SessionBackend {
  view(id: string, wanted: Stretch): Promise<SessionView | null>;
  moveHead(id: string, head: string): Promise<void>;
  changeChoice(id: string, change: ChoiceChange): Promise<void>;
  deleteMessage(id: string, messageId: string): Promise<void>;
  sendToRun(runId: string, parts: MessagePart[], mode: MessageMode, id: string): Promise<Delivery>;
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

/** The messages, with the skills that the server has added to questions. */
export function withSkills(shown: ChatMessage[], stored: readonly ChatMessage[]): ChatMessage[] {
  const skills = new Map(
    stored.filter(({ parts }) => parts.some(isSkill)).map((message) => [message.id, message.parts]),
  );
  if (skills.size === 0) return shown;
  return shown.map((message) => ({ ...message, parts: skills.get(message.id) ?? message.parts }));
}

const isSkill = (part: MessagePart) => part.type === "data-skill";

export interface SessionInfo {
  readonly title: string;
  readonly siblings: Readonly<Record<string, SiblingInfo>>;
  /** How many messages are in front of those that are loaded. */
  readonly older: number;
  /** The runs of the sub-agents of the shown answers. */
  readonly subAgents: Runs;
  /** The asks that came with the stream, answered or not. */
  readonly asks: Readonly<Record<string, Ask>>;
  /** How far the model was when the chat ended at `at`; outdated as soon as it ends elsewhere. */
  readonly progress: (ModelProgress & { readonly at: string }) | null;
  readonly isLoading: boolean;
  readonly loadError: Error | null;
  /** Whether the chat was opened and the server does not know it, or does not show it to this person. */
  readonly isMissing: boolean;
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
  siblings: {},
  older: 0,
  subAgents: {},
  asks: {},
  progress: null,
  isLoading: false,
  loadError: null,
  isMissing: false,
  isReconnecting: false,
  pending: [],
  parentId: null,
  origin: null,
};

export interface SessionParts {
  transport: ChatTransport;
  backend: SessionBackend;
  events?: SessionEvents;
  /** The choice of agent and options that a new chat begins with. */
  defaults?: ChoiceDefaults;
  schedule?: Schedule;
  /** The delays before each attempt to rejoin a broken answer, in milliseconds. */
  pauses?: readonly number[];
}

/** Whether the shown chat ends with a question that never reached the server. */
export function hasUnsent(messages: readonly ChatMessage[], info: SessionInfo, view: SessionView): boolean {
  const last = messages.findLast((message) => message.role === "user");
  return last !== undefined && info.siblings[last.id] === undefined && view.siblings[last.id] === undefined;
}

/** The shown messages with those of another tab that the newest question follows. */
export function withMissed(messages: ChatMessage[], stored: readonly ChatMessage[]): ChatMessage[] {
  const at = messages.findLastIndex((message) => message.role === "user");
  const place = stored.findIndex((message) => message.id === messages[at]?.id);
  return at < 0 || place <= at ? messages : [...stored.slice(0, place), ...messages.slice(at)];
}
