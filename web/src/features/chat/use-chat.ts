/** The chat for components: hooks that only subscribe (document 004 names them). */

import type { ChatStatus } from "ai";
import { createContext, useContext, useMemo, useSyncExternalStore } from "react";
import type { ChatSession } from "@/features/chat/chat-session";
import type { Ask } from "@/protocol/ask";
import { type ChatMessage, isToolPart, type ToolPart } from "@/protocol/message";
import type { SiblingInfo } from "@/protocol/session";
import { type SubAgentStreams, streamOf } from "@/protocol/subagent";

export const ChatContext = createContext<ChatSession | null>(null);

function useSession(): ChatSession {
  const session = useContext(ChatContext);
  if (session === null) throw new Error("a chat hook was used outside of <ChatContext>");
  return session;
}

export interface ChatStateView {
  messages: readonly ChatMessage[];
  status: ChatStatus;
  error: Error | null;
  isBusy: boolean;
}

/** What is said and how it stands. */
export function useChatState(): ChatStateView {
  const { state } = useSession();
  const { messages, status, error } = useSyncExternalStore(state.subscribe, state.read);
  return { messages, status, error, isBusy: status === "submitted" || status === "streaming" };
}

export interface ChatSessionView {
  session: ChatSession;
  title: string;
  /** For each message that has siblings or not: which of them is shown, and its neighbours. */
  siblingNav: Readonly<Record<string, SiblingInfo>>;
  isLoading: boolean;
  loadError: Error | null;
  /** The questions that runs have asked, by their ids. */
  asks: Readonly<Record<string, Ask>>;
}

/** The conversation itself: title and branches. */
export function useChatSession(): ChatSessionView {
  const session = useSession();
  const info = useSyncExternalStore(session.subscribe, session.info);
  return {
    session,
    title: info.title,
    siblingNav: info.siblings,
    isLoading: info.isLoading,
    loadError: info.loadError,
    asks: info.asks,
  };
}

export interface ChatToolsView {
  /** Every call of the shown path by its id, as it is now. */
  toolParts: Readonly<Record<string, ToolPart>>;
  /** What sub-agents do, by their runs. */
  subAgentStreams: SubAgentStreams;
}

/** The tool calls under way and done. */
export function useChatTools(): ChatToolsView {
  const session = useSession();
  const { subAgents } = useSyncExternalStore(session.subscribe, session.info);
  const { messages } = useChatState();
  return useMemo(() => {
    const calls = messages.flatMap((message) => message.parts.filter(isToolPart));
    const toolParts = Object.fromEntries(calls.map((part) => [part.toolCallId, part]));
    return { toolParts, subAgentStreams: { ...storedSubAgents(messages), ...subAgents } };
  }, [messages, subAgents]);
}

function storedSubAgents(messages: readonly ChatMessage[]): SubAgentStreams {
  const parts = messages.flatMap((message) => message.parts.filter((part) => part.type === "data-subagent"));
  const streams = parts.map((part) => streamOf((part as { data?: unknown }).data)).filter((one) => one !== null);
  return Object.fromEntries(streams.map((stream) => [stream.runId, stream]));
}
