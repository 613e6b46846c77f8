/** What a call or a background task asks, drawn where it is asked: an approval, or a form of questions. */

import { lazy, Suspense } from "react";
import { useServices } from "@/app/services";
import { askPlaces } from "@/features/approvals/ask-places";
import { useChat } from "@/features/chat/use-chat";
import { useWaiting } from "@/features/chat/use-waiting";
import { phraseOf } from "@/features/tool-cards/verbs";
import { type Ask, askPath, askTitle } from "@/protocol/ask";
import type { ToolPart } from "@/protocol/message";
import { parsePreview } from "@/protocol/preview";
import { readQuestionnaire } from "@/protocol/question";
import { isRecord, optionalText, text } from "@/protocol/shapes";
import { type Text, useText } from "@/text/text";
import { type Answer, answerAsk } from "@/transport/asks";
import { Button } from "@/ui/button";

const Approval = lazy(async () => ({ default: (await import("@/features/approvals/approval")).Approval }));
const QuestionForm = lazy(async () => ({ default: (await import("@/features/approvals/question-form")).QuestionForm }));
const CallInput = lazy(async () => ({ default: (await import("@/features/tool-cards/call-input")).CallInput }));
const PreviewView = lazy(async () => ({ default: (await import("@/features/approvals/preview-view")).PreviewView }));

/** The ask of a call that waits for the user; null if there is none. */
export function useCallAsk(part: ToolPart): Ask | null {
  const waiting = useWaiting();
  if (part.state === "approval-requested") {
    const { id, requestReason } = part.approval;
    const known = waiting.find((ask) => ask.id === id);
    const payload = { title: part.title ?? "", args: part.input, reason: requestReason ?? "" };
    return known ?? { id, runId: "", kind: "approval", callId: part.toolCallId, payload };
  }
  return waiting.find((ask) => ask.kind === "question" && ask.callId === part.toolCallId) ?? null;
}

interface AskViewProps {
  ask: Ask;
  /** All asks that wait in the same place, this one included. */
  waiting: readonly Ask[];
  /** The session whose agent asks. */
  sessionId: string;
  /** The agents from the top down to the one that asks. */
  path: readonly string[];
  onAnswer: (ask: Ask, answer: Answer) => Promise<void>;
}

/** An ask: an approval with what the call would do, or questions. */
export function AskView({ ask, waiting, sessionId, path, onAnswer }: AskViewProps) {
  const services = useServices();
  const t = useText();
  const { payload } = ask;
  const next = waiting.length > 1 ? () => focusNext(ask.id) : undefined;
  const others = next && (
    <Button look="plain" className="-my-1 h-7 px-2" onClick={next}>
      {t.moreWaiting(waiting.length - 1)}
    </Button>
  );
  if (ask.kind === "question") {
    return (
      <Suspense fallback={null}>
        <QuestionForm
          askId={ask.id}
          questionnaire={readQuestionnaire(payload)}
          path={path}
          others={others}
          onAnswer={(answer) => onAnswer(ask, answer)}
        />
      </Suspense>
    );
  }
  const alike = waiting.filter((one) => one.kind === "approval" && one.payload["tool"] === payload["tool"]);
  const preview = parsePreview(payload);
  const answer = async (value: Answer) => {
    await onAnswer(ask, value);
    if (value.approved !== true || value.remember !== "always") return;
    const args = value.edited_args === undefined ? { args: payload["args"] } : {};
    services.always.note({ sessionId, tool: text(payload["tool"]), title: askWords(ask, t), ...args });
  };
  return (
    <Suspense fallback={null}>
      <Approval
        askId={ask.id}
        input={payload["args"]}
        path={path}
        reason={optionalText(payload["reason"])}
        alike={alike.length}
        others={others}
        onAnswer={answer}
        {...(alike.length < 2 ? {} : { onAllowAlike: () => allowAll(alike, onAnswer) })}
      >
        {preview === null ? <CallInput input={payload["args"]} /> : <PreviewView preview={preview} />}
      </Approval>
    </Suspense>
  );
}

/** Allows several calls once each; one that was answered elsewhere in between does not stop the others. */
async function allowAll(asks: readonly Ask[], onAnswer: AskViewProps["onAnswer"]): Promise<void> {
  const answers = await Promise.allSettled(asks.map((ask) => onAnswer(ask, { approved: true })));
  const failed = answers.find((answer) => answer.status === "rejected");
  if (failed !== undefined && answers.every((answer) => answer.status === "rejected")) throw failed.reason;
}

/** What a call of this chat asks. */
export function CallAsk({ ask }: { ask: Ask }) {
  const services = useServices();
  const session = useChat();
  const waiting = useWaiting();
  return (
    <AskView
      key={ask.id}
      ask={ask}
      waiting={waiting}
      sessionId={session.id}
      path={askPath(ask).slice(1)}
      onAnswer={(one, answer) => services.answer(session, one.id, answer)}
    />
  );
}

/** What a background task of this chat asks. */
export function TaskAsk({ ask, waiting, onDone }: { ask: Ask; waiting: readonly Ask[]; onDone: () => Promise<void> }) {
  const t = useText();
  const name = askWords(ask, t);
  return (
    <div className="mx-2 mb-2 space-y-2">
      {ask.kind === "approval" ? <p className="text-[13.5px] font-medium break-words">{name}</p> : null}
      <AskView
        ask={ask}
        waiting={waiting}
        sessionId={ask.sessionId ?? ""}
        path={askPath(ask)}
        onAnswer={async (one, answer) => {
          await answerAsk(one.id, answer);
          await onDone();
        }}
      />
    </div>
  );
}

/** What an ask is about, in a few words of the page's language. */
export function askWords(ask: Ask, t: Text): string {
  if (ask.kind === "question") return askTitle(ask);
  const { tool, title, args } = ask.payload;
  const call = {
    type: "dynamic-tool",
    toolName: text(tool),
    toolCallId: ask.callId,
    state: "input-available",
  } as const;
  const { words, object } = phraseOf({ ...call, title: text(title), input: args }, "waiting", false, t);
  return `${words} ${object}`.trim();
}

function focusNext(id: string): void {
  const next = askPlaces.next(id);
  if (next !== null) askPlaces.focus(next);
}

/** Whether a call has asked questions that were answered. */
export function hasAnswers(part: ToolPart): boolean {
  return part.state === "output-available" && isRecord(part.output) && Array.isArray(part.output["answers"]);
}
