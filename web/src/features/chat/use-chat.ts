/** The chat for components: hooks that only subscribe (rules C100 to C103). */

import type { ChatStatus } from "ai";
import { createContext, useContext, useMemo, useSyncExternalStore } from "react";
import type { ChatSession } from "@/features/chat/chat-session";
import type { Ask } from "@/protocol/ask";
import { type ChatMessage, isToolPart, type ToolPart } from "@/protocol/message";
import { type Run, type Runs, storedRun, waitsForAnswer } from "@/protocol/run";
import type { SiblingInfo } from "@/protocol/session";

export const ChatContext = createContext<ChatSession | null>(null);

/** What a store holds now; drawn on a server it is the same. */
function useStore<T>(subscribe: (listener: () => void) => () => void, read: () => T): T {
  return useSyncExternalStore(subscribe, read, read);
}

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
  const { messages, status, error } = useStore(state.subscribe, state.read);
  return { messages, status, error, isBusy: isBusyStatus(status) };
}

/** Whether an answer is awaited or being written. */
export function useIsBusy(): boolean {
  const { state } = useSession();
  return useStore(state.subscribe, () => isBusyStatus(state.read().status));
}

/** Whether anything was said yet. */
export function useHasMessages(): boolean {
  const { state } = useSession();
  return useStore(state.subscribe, () => state.read().messages.length > 0);
}

function isBusyStatus(status: ChatStatus): boolean {
  return status === "submitted" || status === "streaming";
}

export interface ChatSessionView {
  session: ChatSession;
  title: string;
  /** For each message that has siblings or not: which of them is shown, and its neighbours. */
  siblingNav: Readonly<Record<string, SiblingInfo>>;
  isLoading: boolean;
  loadError: Error | null;
  isMending: boolean;
}

/** The conversation itself: title and branches. */
export function useChatSession(): ChatSessionView {
  const session = useSession();
  const info = useStore(session.subscribe, session.info);
  return {
    session,
    title: info.title,
    siblingNav: info.siblings,
    isLoading: info.isLoading,
    loadError: info.loadError,
    isMending: info.isMending,
  };
}

export interface ChatToolsView {
  /** Every call of the shown path by its id, as it is now. */
  toolParts: Readonly<Record<string, ToolPart>>;
  /** The runs of sub-agents by their id. */
  subAgentStreams: Runs;
}

/** The tool calls under way and done. */
export function useChatTools(): ChatToolsView {
  const session = useSession();
  const { subAgents } = useStore(session.subscribe, session.info);
  const { messages } = useChatState();
  return useMemo(() => {
    const calls = messages.flatMap((message) => message.parts.filter(isToolPart));
    const toolParts = Object.fromEntries(calls.map((part) => [part.toolCallId, part]));
    return { toolParts, subAgentStreams: { ...storedSubAgents(messages), ...subAgents } };
  }, [messages, subAgents]);
}

export interface SubAgentsOfCall {
  runs: readonly Run[];
  /** Whether one of them, or one below them, waits for an answer. */
  isAsked: boolean;
}

/** The sub-agents that a call has started: as they are now, else as the message has stored them. */
export function useSubAgentsOf(callId: string, caller: ChatMessage | Run): SubAgentsOfCall {
  const session = useSession();
  const live = useStore(session.subscribe, () => session.info().subAgents);
  return useMemo(() => {
    const known = { ...("runId" in caller ? {} : storedSubAgents([caller])), ...live };
    const runs = Object.values(known).filter(
      ({ path, parentCallId }) =>
        parentCallId === callId && path.at(-2) === ("runId" in caller ? caller.runId : path[0]),
    );
    return { runs, isAsked: runs.some((run) => waitsForAnswer(run, known)) };
  }, [live, caller, callId]);
}

/** The question with this id, if it came with the stream. */
export function useAsk(id: string | null): Ask | null {
  const session = useSession();
  const asks = useStore(session.subscribe, () => session.info().asks);
  return id === null ? null : (asks[id] ?? null);
}

/** Who answers in this chat; null for the server's choice. */
export function useAgent(): string | null {
  const session = useSession();
  useStore(session.subscribe, () => session.info().agent);
  return useStore(session.state.subscribe, () => session.agent);
}

/** The open chat itself; never a reason to draw anew. */
export function useChat(): ChatSession {
  return useSession();
}

function storedSubAgents(messages: readonly ChatMessage[]): Runs {
  const parts = messages.flatMap((message) => message.parts.filter((part) => part.type === "data-subagent"));
  const runs = parts.map((part) => storedRun((part as { data?: unknown }).data)).filter((run) => run !== null);
  return Object.fromEntries(runs.map((run) => [run.runId, run]));
}
