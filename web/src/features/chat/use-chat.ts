/** The chat for components: hooks that only subscribe (rules C100 to C103). */

import type { ChatStatus } from "ai";
import { createContext, useContext, useMemo, useSyncExternalStore } from "react";
import type { ChatSession } from "@/features/chat/chat-session";
import type { PendingMessage } from "@/features/chat/inbox";
import type { Ask } from "@/protocol/ask";
import { type ChatMessage, isOpenCall, isToolPart, type ToolPart } from "@/protocol/message";
import { type Run, type Runs, storedRun, waitsForAnswer } from "@/protocol/run";
import type { SessionOrigin, SiblingInfo } from "@/protocol/session";

export const ChatContext = createContext<ChatSession | null>(null);

/** The current value of a store, also when rendered on a server. */
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

/** The messages and their status. */
export function useChatState(): ChatStateView {
  const { state } = useSession();
  const { messages, status, error } = useStore(state.subscribe, state.read);
  return { messages, status, error, isBusy: isBusyStatus(status) };
}

/** Whether an answer is awaited or in progress. */
export function useIsBusy(): boolean {
  const { state } = useSession();
  return useStore(state.subscribe, () => isBusyStatus(state.read().status));
}

/** Whether the chat has any messages. */
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
  /** For each message: which of its versions is shown, and the neighbouring ones. */
  siblingNav: Readonly<Record<string, SiblingInfo>>;
  isLoading: boolean;
  loadError: Error | null;
  isReconnecting: boolean;
}

/** The title and the branches of the conversation. */
export function useChatSession(): ChatSessionView {
  const session = useSession();
  const info = useStore(session.subscribe, session.info);
  return {
    session,
    title: info.title,
    siblingNav: info.siblings,
    isLoading: info.isLoading,
    loadError: info.loadError,
    isReconnecting: info.isReconnecting,
  };
}

export interface ChatToolsView {
  /** The calls of the shown path by id. */
  toolParts: Readonly<Record<string, ToolPart>>;
  /** The runs of sub-agents by their id. */
  subAgentStreams: Runs;
}

/** The tool calls, in progress and done. */
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

/** The sub-agents that a call has started: live if known, otherwise as stored in the message. */
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

/** The ask with this id, if it came with the stream. */
export function useAsk(id: string | null): Ask | null {
  const session = useSession();
  const asks = useStore(session.subscribe, () => session.info().asks);
  return id === null ? null : (asks[id] ?? null);
}

/** What was sent during an answer and is not taken yet. */
export function usePending(): readonly PendingMessage[] {
  const session = useSession();
  return useStore(session.subscribe, () => session.info().pending);
}

/** What started this chat, if no person did, and the chat above it. */
export function useOrigin(): { origin: SessionOrigin | null; parentId: string | null } {
  const session = useSession();
  const origin = useStore(session.subscribe, () => session.info().origin);
  const parentId = useStore(session.subscribe, () => session.info().parentId);
  return { origin, parentId };
}

/** How many calls of the last answer are done, of those that matter. */
export function useDoneCalls(matters: (part: ToolPart) => boolean): number {
  const { state } = useSession();
  return useStore(state.subscribe, () => {
    const calls = state.read().messages.at(-1)?.parts.filter(isToolPart) ?? [];
    return calls.filter((part) => !isOpenCall(part) && matters(part)).length;
  });
}

/** The agent of this chat; null for the server's default. */
export function useAgent(): string | null {
  const session = useSession();
  useStore(session.subscribe, () => session.info().agent);
  return useStore(session.state.subscribe, () => session.agent);
}

/** The open chat itself; it never causes a new rendering. */
export function useChat(): ChatSession {
  return useSession();
}

function storedSubAgents(messages: readonly ChatMessage[]): Runs {
  const parts = messages.flatMap((message) => message.parts.filter((part) => part.type === "data-subagent"));
  const runs = parts.map((part) => storedRun((part as { data?: unknown }).data)).filter((run) => run !== null);
  return Object.fromEntries(runs.map((run) => [run.runId, run]));
}
