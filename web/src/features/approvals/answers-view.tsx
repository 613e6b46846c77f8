import { isRecord, list, record, text } from "@/protocol/shapes";
import { useText } from "@/text/text";

/** The questions of an agent and what was answered. */
export function AnswersView({ output }: { output: unknown }) {
  const t = useText();
  const pairs = list(record(output)["answers"]).filter(isRecord);
  return (
    <dl className="space-y-2 pt-1 pb-2 text-[13.5px]">
      {pairs.map((pair, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a question is identified by its position
        <div key={index}>
          <dt className="text-soft">{text(pair["question"])}</dt>
          <dd className="break-words whitespace-pre-wrap">
            {answerText(pair["answer"], t.comma) || <span className="text-faint">{t.skipped}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function answerText(answer: unknown, comma: string): string {
  return Array.isArray(answer) ? answer.map(String).join(comma) : text(answer);
}
