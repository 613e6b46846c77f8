/** The chat for components: hooks that only subscribe (document 004 names them). */

import type { ChatStatus } from "ai";
import { createContext, useContext, useMemo, useSyncExternalStore } from "react";
import type { ChatSession } from "@/features/chat/chat-session";
import { type ChatMessage, isToolPart, type ToolPart } from "@/protocol/message";
import type { SiblingInfo } from "@/protocol/session";

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
  };
}

export interface ChatToolsView {
  /** Every call of the shown path by its id, as it is now. */
  toolParts: Readonly<Record<string, ToolPart>>;
}

/** The tool calls under way and done. */
export function useChatTools(): ChatToolsView {
  const { messages } = useChatState();
  return useMemo(() => {
    const calls = messages.flatMap((message) => message.parts.filter(isToolPart));
    return { toolParts: Object.fromEntries(calls.map((part) => [part.toolCallId, part])) };
  }, [messages]);
}
