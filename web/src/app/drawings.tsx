/** The cards of tool calls: to give a tool its own, add a line to `ICONS` or a branch to `ToolCard`. */

import { Bot, FileText, Globe, Search, SquareTerminal } from "lucide-react";
import type { ReactNode } from "react";
import { navigate } from "@/app/route";
import { useServices } from "@/app/services";
import { Approval } from "@/features/approvals/approval";
import { TaskHandle, taskStateText } from "@/features/background/task-mark";
import { OpenUrlAgain } from "@/features/browser-tools/open-url-tool";
import type { DrawTool } from "@/features/chat/message-view";
import { useAsk, useChat, useSubAgentsOf } from "@/features/chat/use-chat";
import { Transcript } from "@/features/subagents/transcript";
import { shellDetails } from "@/features/tool-cards/shell-details";
import { UnifiedTool } from "@/features/tool-cards/unified-tool";
import { type ChatMessage, type ToolPart, toolName } from "@/protocol/message";
import type { Run } from "@/protocol/run";
import { optionalText } from "@/protocol/shapes";
import { useText } from "@/text/text";
import { useStore } from "@/ui/store";

const ICONS: Record<string, ReactNode> = {
  "open-url": <Globe size={15} aria-hidden="true" />,
  "sub-agent": <Bot size={15} aria-hidden="true" />,
  run_shell_command: <SquareTerminal size={15} aria-hidden="true" />,
  read: <FileText size={15} aria-hidden="true" />,
  search: <Search size={15} aria-hidden="true" />,
};

interface ToolCardProps {
  part: ToolPart;
  isLive: boolean;
  /** What the call is in: an answer, or the run of a sub-agent. */
  caller: ChatMessage | Run;
  /** The sub-agents from the top down to the caller. */
  path?: readonly string[];
}

function ToolCard({ part, isLive, caller, path = [] }: ToolCardProps) {
  const t = useText();
  const services = useServices();
  const session = useChat();
  const { runs, isAsked } = useSubAgentsOf(part.toolCallId, caller);
  const { tasks } = useStore(services.tasks(session.id));
  const task = tasks.find((one) => one.callId === part.toolCallId);
  const name = toolName(part);
  return (
    <UnifiedTool
      part={part}
      isLive={isLive}
      icon={ICONS[name] ?? (runs.length > 0 || task ? ICONS["sub-agent"] : undefined)}
      isAskedBelow={isAsked}
      isOutputInside={runs.length > 0 || task !== undefined}
      result={task && taskStateText(task, t)}
      details={name === "run_shell_command" ? shellDetails(part) : null}
      question={
        part.state === "approval-requested" ? <Question part={part} askId={part.approval.id} path={path} /> : null
      }
    >
      {name === "open-url" ? <OpenUrlAgain part={part} stack={services.stack} /> : null}
      {task === undefined ? null : <TaskHandle task={task} onOpen={() => navigate(task.sessionId)} />}
      {runs.map((run) => (
        <Transcript
          key={run.runId}
          run={run}
          drawTool={(inner, isInnerLive) => (
            <ToolCard part={inner} isLive={isInnerLive} caller={run} path={[...path, run.agent]} />
          )}
          onNeeded={() => void services.loadSubAgents(session, run.path[0] ?? run.runId)}
        />
      ))}
    </UnifiedTool>
  );
}

function Question({ part, askId, path }: { part: ToolPart; askId: string; path: readonly string[] }) {
  const services = useServices();
  const session = useChat();
  const ask = useAsk(askId);
  return (
    <Approval
      input={part.input}
      path={path}
      reason={part.approval?.requestReason || optionalText(ask?.payload["reason"])}
      onAnswer={(answer) => services.answer(session, askId, answer)}
    />
  );
}

export const drawTool: DrawTool = (part, isLive, message) => <ToolCard part={part} isLive={isLive} caller={message} />;
