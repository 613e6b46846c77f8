/** Which card draws which part of an answer: add a line to `ICONS`, or a branch to `ToolCard`, for a tool of its own. */

import { Bot, FileText, Globe, Search, SquareTerminal } from "lucide-react";
import type { ReactNode } from "react";
import { useServices } from "@/app/services";
import { Approval } from "@/features/approvals/approval";
import { OpenUrlAgain } from "@/features/browser-tools/open-url-tool";
import type { PartDrawings } from "@/features/chat/message-view";
import { useChatSession, useChatTools } from "@/features/chat/use-chat";
import { Transcript } from "@/features/subagents/transcript";
import { UnifiedTool } from "@/features/tool-cards/unified-tool";
import { type ToolPart, toolName } from "@/protocol/message";
import { optionalText } from "@/protocol/shapes";

const ICONS: Record<string, ReactNode> = {
  "open-url": <Globe size={15} aria-hidden="true" />,
  "sub-agent": <Bot size={15} aria-hidden="true" />,
  shell: <SquareTerminal size={15} aria-hidden="true" />,
  read: <FileText size={15} aria-hidden="true" />,
  search: <Search size={15} aria-hidden="true" />,
};

function ToolCard({ part, isLive }: { part: ToolPart; isLive: boolean }) {
  const services = useServices();
  const { session, asks } = useChatSession();
  const { subAgentStreams } = useChatTools();
  const name = toolName(part);
  const children = Object.values(subAgentStreams).filter((stream) => stream.parentCallId === part.toolCallId);
  const icon = ICONS[name] ?? (children.length > 0 ? ICONS["sub-agent"] : undefined);
  const question =
    part.state === "approval-requested" ? (
      <Approval
        input={part.input}
        reason={part.approval.requestReason ?? optionalText(asks[part.approval.id]?.payload["reason"])}
        onAnswer={(answer) => services.answer(session, part.approval.id, answer)}
      />
    ) : null;
  return (
    <UnifiedTool part={part} isLive={isLive} icon={icon} question={question}>
      {name === "open-url" ? <OpenUrlAgain part={part} stack={services.stack} /> : null}
      {children.map((stream) => (
        <Transcript
          key={stream.runId}
          stream={stream}
          drawTool={drawTool}
          onNeeded={() => void services.loadSubAgents(session, stream.rootRunId)}
        />
      ))}
    </UnifiedTool>
  );
}

const drawTool = (part: ToolPart, isLive: boolean) => <ToolCard part={part} isLive={isLive} />;

export const drawings: PartDrawings = { tool: drawTool, data: () => null };
