/** The chat for components: hooks that only subscribe (rules C100 to C103). */

import type { ChatStatus } from "ai";
import { createContext, useContext, useMemo, useRef, useSyncExternalStore } from "react";
import type { ChatSession } from "@/features/chat/chat-session";
import type { PendingMessage } from "@/features/chat/inbox";
import { type ChatMessage, isOpenCall, isToolPart, type ToolPart } from "@/protocol/message";
import { endOf, type ModelProgress } from "@/protocol/model-progress";
import { type Run, type Runs, runsOfCall, storedRun, waitsForAnswer } from "@/protocol/run";
import type { ChatChoice, SessionOrigin, SiblingInfo } from "@/protocol/session";

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
  /** Whether the server does not know the chat that was opened. */
  isMissing: boolean;
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
    isMissing: info.isMissing,
    isReconnecting: info.isReconnecting,
  };
}

/** How far the model is while it has not begun to answer; null if it does not say. */
export function useModelProgress(): ModelProgress | null {
  const session = useSession();
  const { progress } = useStore(session.subscribe, session.info);
  const { messages, isBusy } = useChatState();
  return isBusy && progress?.at === endOf(messages) ? progress : null;
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

/** The value of a selector; it keeps its identity as long as `isSame` says so. */
function useShared<T>(read: () => T, isSame: (one: T, other: T) => boolean): T {
  const session = useSession();
  const last = useRef<T | undefined>(undefined);
  return useStore(session.subscribe, () => {
    const now = read();
    if (last.current === undefined || !isSame(last.current, now)) last.current = now;
    return last.current;
  });
}

/** The run that makes calls, and what is stored of the agents it has started. */
export interface Caller {
  /** Null for the answer itself. */
  readonly runId: string | null;
  /** The agents from the top down to this one. */
  readonly path: readonly string[];
  readonly stored: Runs;
}

/** The sub-agents that a call has started: live if known, otherwise as stored in the message. */
export function useRunsOfCall(callId: string, caller: Caller): readonly Run[] {
  const session = useSession();
  return useShared(() => findRuns(session.info().subAgents, callId, caller), isSameList);
}

/** Which of these calls have started sub-agents. */
export function useAgentCalls(callIds: readonly string[], caller: Caller): ReadonlySet<string> {
  const session = useSession();
  return useShared(
    () => new Set(callIds.filter((id) => findRuns(session.info().subAgents, id, caller).length > 0)),
    (one, other) => one.size === other.size && [...one].every((id) => other.has(id)),
  );
}

/** Whether one of these runs, or one below them, waits for an answer. */
export function useIsAsked(runs: readonly Run[]): boolean {
  const session = useSession();
  return useStore(session.subscribe, () => runs.some((run) => waitsForAnswer(run, session.info().subAgents)));
}

/** What a message stores of the agents that worked on it. */
export function useStoredRuns(message: ChatMessage): Runs {
  const last = useRef<{ parts: readonly unknown[]; runs: Runs }>({ parts: [], runs: {} });
  const parts = message.parts.filter((part) => part.type === "data-subagent");
  if (!isSameList(parts, last.current.parts)) last.current = { parts, runs: storedSubAgents([message]) };
  return last.current.runs;
}

function findRuns(live: Runs, callId: string, { runId, stored }: Caller): readonly Run[] {
  const known = runsOfCall(live, runId, callId);
  return known.length > 0 ? known : runsOfCall(stored, runId, callId);
}

function isSameList(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((value, index) => value === other[index]);
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

/** The agent and the options of this chat. */
export function useChatOptions(): ChatChoice {
  const { options } = useSession();
  return useStore(options.subscribe, options.read);
}

/** How many messages are in front of those that are loaded. */
export function useOlder(): { session: ChatSession; older: number } {
  const session = useSession();
  return { session, older: useStore(session.subscribe, () => session.info().older) };
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
