/** Which card draws which part of an answer: add a line to `ICONS`, or a branch to `ToolCard`, for a tool of its own. */

import { Bot, FileText, Globe, Search, SquareTerminal } from "lucide-react";
import type { ReactNode } from "react";
import { useServices } from "@/app/services";
import { Approval } from "@/features/approvals/approval";
import { OpenUrlAgain } from "@/features/browser-tools/open-url-tool";
import type { PartDrawings } from "@/features/chat/message-view";
import { useAsk, useChat, useSubAgentsOf } from "@/features/chat/use-chat";
import { Transcript } from "@/features/subagents/transcript";
import { UnifiedTool } from "@/features/tool-cards/unified-tool";
import { type ChatMessage, type ToolPart, toolName } from "@/protocol/message";
import { optionalText } from "@/protocol/shapes";

const ICONS: Record<string, ReactNode> = {
  "open-url": <Globe size={15} aria-hidden="true" />,
  "sub-agent": <Bot size={15} aria-hidden="true" />,
  shell: <SquareTerminal size={15} aria-hidden="true" />,
  read: <FileText size={15} aria-hidden="true" />,
  search: <Search size={15} aria-hidden="true" />,
};

interface ToolCardProps {
  part: ToolPart;
  isLive: boolean;
  /** The message the call is in; null inside a sub-agent. */
  message: ChatMessage | null;
}

function ToolCard({ part, isLive, message }: ToolCardProps) {
  const services = useServices();
  const session = useChat();
  const subAgents = useSubAgentsOf(part.toolCallId, message);
  const name = toolName(part);
  return (
    <UnifiedTool
      part={part}
      isLive={isLive}
      icon={ICONS[name] ?? (subAgents.length > 0 ? ICONS["sub-agent"] : undefined)}
      question={part.state === "approval-requested" ? <Question part={part} askId={part.approval.id} /> : null}
    >
      {name === "open-url" ? <OpenUrlAgain part={part} stack={services.stack} /> : null}
      {subAgents.map((stream) => (
        <Transcript
          key={stream.runId}
          stream={stream}
          drawTool={(inner, isInnerLive) => <ToolCard part={inner} isLive={isInnerLive} message={null} />}
          onNeeded={() => void services.loadSubAgents(session, stream.rootRunId)}
        />
      ))}
    </UnifiedTool>
  );
}

function Question({ part, askId }: { part: ToolPart; askId: string }) {
  const services = useServices();
  const session = useChat();
  const ask = useAsk(askId);
  const told = part.approval?.requestReason;
  return (
    <Approval
      input={part.input}
      reason={told || optionalText(ask?.payload["reason"])}
      onAnswer={(answer) => services.answer(session, askId, answer)}
    />
  );
}

export const drawings: PartDrawings = {
  tool: (part, isLive, message) => <ToolCard part={part} isLive={isLive} message={message} />,
  data: () => null,
};
