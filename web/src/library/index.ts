/** `@dovetail/react`: the hooks and parts of the page, for pages of one's own. */

import "@/library/styles.css";

export { Approval, type ApprovalAnswer } from "@/features/approvals/approval";
export { ChatSession } from "@/features/chat/chat-session";
export { Thread } from "@/features/chat/thread";
export {
  type ChatSessionView,
  type ChatStateView,
  type ChatToolsView,
  useChat,
  useChatSession,
  useChatState,
  useChatTools,
  useIsBusy,
} from "@/features/chat/use-chat";
export { ToolStep } from "@/features/tool-cards/tool-step";
export { Chat, Message, MessageField, Messages } from "@/library/chat";
export { type ClientOptions, DovetailClient } from "@/library/client";
export { ChatProvider } from "@/library/provider";
export type { Ask } from "@/protocol/ask";
export type { BrowserTool, CallState, Card, CardOptions, CardProps } from "@/protocol/dovetail";
export type { ChatMessage, MessagePart, ToolPart } from "@/protocol/message";
export { OfflineError, ServerError } from "@/transport/http";
export { HttpChatTransport } from "@/transport/http-chat-transport";
export { Markdown } from "@/ui/markdown/markdown";
