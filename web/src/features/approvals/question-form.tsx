import { type KeyboardEvent, type ReactNode, useId } from "react";
import { AskFrame } from "@/features/approvals/ask-frame";
import { type Draft, emptyDraft, isAnswered, toAnswers } from "@/features/approvals/draft";
import { FALSE, type Question, type Questionnaire, TRUE } from "@/protocol/question";
import { type Text, useText } from "@/text/text";
import { useAgentName } from "@/ui/agent-name";
import { Button } from "@/ui/button";
import { FIELD_LOOK } from "@/ui/field";
import { useKeptState } from "@/ui/kept-state";

export interface QuestionAnswer {
  value?: unknown;
  approved?: false;
}

interface QuestionFormProps {
  askId: string;
  questionnaire: Questionnaire;
  /** The sub-agents from the top down to the one that asks. */
  path?: readonly string[];
  others?: ReactNode;
  onAnswer: (answer: QuestionAnswer) => Promise<void>;
}

/** Questions of an agent or a tool as a form: choices, several choices, or words; it can be skipped. */
export function QuestionForm({ askId, questionnaire, path = [], others, onAnswer }: QuestionFormProps) {
  const t = useText();
  const agentName = useAgentName();
  const [kept, keep] = useKeptState<Draft>(`ask.${askId}`);
  const draft = kept ?? emptyDraft(questionnaire.questions);
  const canSend = questionnaire.questions.some((question) => isAnswered(draft, question));
  const isSingle = questionnaire.questions.length === 1;
  return (
    <AskFrame askId={askId} label={questionnaire.message || t.questionForYou} others={others}>
      {(send) => {
        const reply = (answer: QuestionAnswer) => send(() => onAnswer(answer).then(() => keep(null)));
        const submit = () => {
          if (canSend) reply({ value: questionnaire.toValue(toAnswers(draft, questionnaire.questions)) });
        };
        const onKey = (event: KeyboardEvent) => {
          if (!isSending(event, isSingle)) return;
          event.preventDefault();
          submit();
        };
        return (
          <form
            className="space-y-4"
            onKeyDown={onKey}
            onSubmit={(event) => {
              event.preventDefault();
              submit();
            }}
          >
            {path.length > 0 ? (
              <p className="text-[13px] text-soft">{t.askedBy(path.map(agentName).join(" › "))}</p>
            ) : null}
            {questionnaire.questions.map((question) => (
              <QuestionField key={question.id} question={question} draft={draft} onChange={keep} />
            ))}
            <div className="flex flex-wrap items-center gap-2">
              <Button type="submit" look="primary" aria-keyshortcuts="Alt+Enter" disabled={!canSend}>
                {t.answer}
              </Button>
              <Button look="outline" onClick={() => reply({ approved: false })}>
                {t.skip}
              </Button>
            </div>
          </form>
        );
      }}
    </AskFrame>
  );
}

/** Whether a key sends the form. One question is answered like a message is sent; among several, Enter ends a line. */
function isSending(event: KeyboardEvent, isSingle: boolean): boolean {
  if (event.key !== "Enter" || event.nativeEvent.isComposing || event.target instanceof HTMLButtonElement) return false;
  return !(event.target instanceof HTMLTextAreaElement) || (!event.shiftKey && (isSingle || event.altKey));
}

interface QuestionFieldProps {
  question: Question;
  draft: Draft;
  onChange: (draft: Draft) => void;
}

function QuestionField({ question, draft, onChange }: QuestionFieldProps) {
  const t = useText();
  const name = useId();
  const { chosen, words } = draft[question.id] ?? { chosen: [], words: "" };
  const change = (now: Partial<Draft[string]>) => onChange({ ...draft, [question.id]: { chosen, words, ...now } });
  const choose = (label: string, isChosen: boolean) => {
    if (!question.isMultiple) change({ chosen: [label], words: "" });
    else change({ chosen: isChosen ? [...chosen, label] : chosen.filter((one) => one !== label) });
  };
  const write = (text: string) => change({ words: text, ...(question.isMultiple ? {} : { chosen: [] }) });
  return (
    <fieldset>
      <legend className="mb-1.5 text-[14px] font-medium break-words whitespace-pre-wrap">{question.question}</legend>
      {question.description ? <p className="mb-1.5 text-[13px] text-soft">{question.description}</p> : null}
      <div className="space-y-0.5">
        {question.choices.map((choice) => (
          <label
            key={choice.label}
            className="-mx-2 flex cursor-pointer items-start gap-2.5 rounded-lg px-2 py-1.5 text-[13.5px] hover:bg-raised"
          >
            <input
              type={question.isMultiple ? "checkbox" : "radio"}
              name={name}
              checked={chosen.includes(choice.label)}
              onChange={(event) => choose(choice.label, event.target.checked)}
              className="mt-[3px] size-4 shrink-0 accent-accent"
            />
            <span className="min-w-0">
              {choiceName(choice.label, question, t)}
              {choice.description ? <span className="block text-[13px] text-soft">{choice.description}</span> : null}
            </span>
          </label>
        ))}
      </div>
      {question.isFree ? (
        <textarea
          rows={1}
          aria-label={question.choices.length > 0 ? t.otherAnswerTo(question.question) : question.question}
          value={words}
          placeholder={question.choices.length > 0 ? t.otherAnswer : t.yourAnswer}
          onChange={(event) => write(event.target.value)}
          className={`${FIELD_LOOK} mt-1.5 field-sizing-content max-h-48 min-h-8 resize-none py-1.5 leading-[1.55]`}
        />
      ) : null}
    </fieldset>
  );
}

/** A choice in the language of the page, if it only means yes or no. */
function choiceName(label: string, question: Question, t: Text): string {
  const isYesOrNo = question.choices[0] === TRUE && question.choices[1] === FALSE;
  return isYesOrNo ? (label === TRUE.label ? t.yes : t.no) : label;
}
