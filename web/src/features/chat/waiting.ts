/** Which asks of a chat wait for an answer: those of its own calls, and those of its sub-agents. */

import type { Ask } from "@/protocol/ask";
import { type ChatMessage, isOpenCall, isToolPart } from "@/protocol/message";
import type { Runs } from "@/protocol/run";

/** The asks that a user can answer now, oldest first. */
export function waitingAsks(
  messages: readonly ChatMessage[],
  asks: Readonly<Record<string, Ask>>,
  subAgents: Runs,
): Ask[] {
  return Object.values(asks).filter((ask) => ask.kind !== "browser" && isWaiting(ask, messages, subAgents));
}

function isWaiting(ask: Ask, messages: readonly ChatMessage[], subAgents: Runs): boolean {
  const step = `ask ${ask.id}`;
  for (const run of Object.values(subAgents)) {
    const found = run.steps.findLast(({ id }) => id === step);
    if (found !== undefined) return found.end === null && run.state === "running";
  }
  const parts = messages.at(-1)?.parts.filter(isToolPart) ?? [];
  const part = parts.find((one) => one.toolCallId === ask.callId);
  if (part === undefined) return false;
  if (ask.kind === "approval") return part.state === "approval-requested" && part.approval.id === ask.id;
  return isOpenCall(part);
}
