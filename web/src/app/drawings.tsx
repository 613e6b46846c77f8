/** The work in an answer: which step draws a call, the agents at work inside it, and what is asked. */

import { memo, type ReactNode, useCallback, useMemo } from "react";
import { CallAsk, hasAnswers, useCallAsk } from "@/app/call-ask";
import { openChat } from "@/app/route";
import { useServices } from "@/app/services";
import { AnswersView } from "@/features/approvals/answers-view";
import { TaskHandle, taskStateText } from "@/features/background/task-mark";
import { readOpenUrl } from "@/features/browser-tools/handlers";
import { OpenUrlLink } from "@/features/browser-tools/open-url-tool";
import type { DrawWork } from "@/features/chat/message-view";
import { type Caller, useAgentCalls, useChat, useIsAsked, useRunsOfCall } from "@/features/chat/use-chat";
import { Transcript } from "@/features/subagents/transcript";
import { registry, useOwnCard } from "@/features/tool-cards/cards";
import { isKeptOutput } from "@/features/tool-cards/kept-output";
import { OwnCardView } from "@/features/tool-cards/own-card";
import { Timeline } from "@/features/tool-cards/timeline";
import { ToolStep } from "@/features/tool-cards/tool-step";
import { firstLine } from "@/features/tool-cards/tool-view";
import { isToolPart, type ToolPart, toolName } from "@/protocol/message";
import type { Run } from "@/protocol/run";
import { heldCalls, type WorkPart, type WorkSegment, type WorkState } from "@/protocol/segments";
import { useText } from "@/text/text";
import { useStore } from "@/ui/store";

const NONE: ReadonlySet<WorkPart> = new Set();

interface WorkProps {
  segment: WorkSegment;
  state: WorkState;
  caller: Caller;
}

const Work = memo(
  function Work({ segment, state, caller }: WorkProps) {
    const { parts } = segment;
    const callIds = useMemo(() => parts.filter(isToolPart).map((part) => part.toolCallId), [parts]);
    const agentCalls = useAgentCalls(callIds, caller);
    const { cards } = useStore(registry);
    const keeps = (part: WorkPart) =>
      isToolPart(part) && (cards.has(toolName(part)) || isKeptOutput(part) || isOpenUrl(part) || hasAnswers(part));
    const held = state.isLive ? heldCalls(segment) : NONE;
    return (
      <Timeline
        parts={parts}
        turns={segment.turns}
        isLive={state.isLive}
        isSettled={state.isSettled}
        hasTodos={state.hasTodos}
        agentCalls={agentCalls}
        keeps={keeps}
        drawCall={(part, isLane) => (
          <Call
            key={part.toolCallId}
            part={part}
            isLive={state.isLive}
            caller={caller}
            isLane={isLane}
            isHeld={held.has(part)}
          />
        )}
      />
    );
  },
  (before, now) => before.segment === now.segment && before.caller === now.caller && isSameState(before, now),
);

function isSameState({ state: one }: WorkProps, { state: other }: WorkProps): boolean {
  return one.isLive === other.isLive && one.isSettled === other.isSettled && one.hasTodos === other.hasTodos;
}

interface CallProps {
  part: ToolPart;
  isLive: boolean;
  caller: Caller;
  isLane: boolean;
  isHeld: boolean;
}

/** A call on the line of work; drawn again only if it changes itself. */
const Call = memo(function Call({ part, isLive, caller, isLane, isHeld }: CallProps) {
  const t = useText();
  const services = useServices();
  const session = useChat();
  const runs = useRunsOfCall(part.toolCallId, caller);
  const isAsked = useIsAsked(runs);
  const { tasks } = useStore(services.tasks(session.id));
  const task = tasks.find((one) => one.callId === part.toolCallId);
  const own = useOwnCard(part, isLive);
  const ask = useCallAsk(part);
  const isAgent = runs.length > 0 || task !== undefined;
  const page = isOpenUrl(part) && part.state !== "input-streaming" ? readOpenUrl(part.input) : null;
  const link = page === null ? null : <OpenUrlLink page={page} stack={services.stack} />;
  return (
    <ToolStep
      part={part}
      isLive={isLive}
      isLane={isLane}
      isHeld={isHeld}
      isAgent={isAgent}
      isAtWork={runs.some((run) => run.state === "running")}
      isAskedBelow={isAsked || ask !== null}
      isOutputInside={isAgent}
      isOutputKept={own === null && isKeptOutput(part)}
      result={task === undefined ? resultOf(part, isAgent, own !== null) : taskStateText(task, t)}
      title={page?.action}
      card={own === null ? (link ?? answersOf(part)) : <OwnCardView own={own} part={part} isLive={isLive} />}
      question={ask === null ? null : <CallAsk ask={ask} />}
    >
      {task === undefined ? null : <TaskHandle task={task} onOpen={() => openChat(task.sessionId)} />}
      {runs.map((run) => (
        <AgentWork key={run.runId} run={run} isNamed={runs.length > 1} isStreamed={isLive} caller={caller} />
      ))}
    </ToolStep>
  );
});

/** The page that a call opens is a link, also when the work folds. */
function isOpenUrl(part: ToolPart): boolean {
  return toolName(part) === "open-url";
}

/** What the line says of the result: the first line of an agent's answer, nothing if a card shows it. */
function resultOf(part: ToolPart, isAgent: boolean, hasCard: boolean): string | undefined {
  if (part.state === "output-error") return undefined;
  if (isAgent) return firstLine(part);
  return hasCard ? "" : undefined;
}

/** What was asked and answered, also while the step is closed. */
function answersOf(part: ToolPart): ReactNode {
  return hasAnswers(part) ? <AnswersView output={part.output} /> : null;
}

interface AgentWorkProps {
  run: Run;
  isNamed: boolean;
  isStreamed: boolean;
  caller: Caller;
}

/** What an agent writes and does inside of the call that started it. */
function AgentWork({ run, isNamed, isStreamed, caller }: AgentWorkProps) {
  const services = useServices();
  const session = useChat();
  const asked = useMemo(() => [run], [run]);
  const { runId, agent } = run;
  const inner: Caller = useMemo(
    () => ({ runId, path: [...caller.path, agent], stored: caller.stored }),
    [runId, agent, caller],
  );
  const drawWork = useCallback(
    (segment: WorkSegment, state: WorkState) => <Work segment={segment} state={state} caller={inner} />,
    [inner],
  );
  return (
    <Transcript
      run={run}
      isNamed={isNamed}
      isStreamed={isStreamed}
      isAsked={useIsAsked(asked)}
      drawWork={drawWork}
      onNeeded={() => void services.loadSubAgents(session, run.path[0] ?? run.runId)}
    />
  );
}

export const drawWork: DrawWork = (segment, state, caller) => (
  <Work key={segment.index} segment={segment} state={state} caller={caller} />
);
