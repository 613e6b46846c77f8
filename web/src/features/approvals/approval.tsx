import { useId, useState } from "react";
import { parseArguments } from "@/features/approvals/arguments";
import { useText } from "@/text/text";
import { Button } from "@/ui/button";

export interface ApprovalAnswer {
  approved: boolean;
  edited_args?: Record<string, unknown>;
  remember?: "once" | "run" | "always";
  value?: string;
}

interface ApprovalProps {
  input: unknown;
  /** The sub-agents from the top down to the one that asks; empty for the chat's own agent. */
  path?: readonly string[];
  reason: string | null;
  /** Resolves when the answer was accepted; a rejection is shown as an error. */
  onAnswer: (answer: ApprovalAnswer) => Promise<void>;
}

/** Asks for approval of a call: as it is, edited, from now on, or not at all. */
export function Approval({ input, path = [], reason, onAnswer }: ApprovalProps) {
  const t = useText();
  const [draft, setDraft] = useState<string | null>(null);
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const parsed = draft === null ? null : parseArguments(draft);
  const isBroken = parsed !== null && !parsed.isValid;

  const answer = async (value: ApprovalAnswer) => {
    setSending(true);
    setError(null);
    try {
      await onAnswer(value);
    } catch (problem) {
      setError(problem instanceof Error ? problem.message : String(problem));
      setSending(false);
    }
  };
  const approve = (remember: "once" | "run" | "always") =>
    answer({ approved: true, remember, ...(parsed?.isValid ? { edited_args: parsed.value } : {}) });
  return (
    <fieldset disabled={isSending} className="space-y-3">
      <legend className="text-[13.5px] font-medium">{t.mayRun}</legend>
      <div className="space-y-0.5 text-[13px] text-soft empty:hidden">
        {path.length > 0 ? <p>{t.askedBy(path.join(" › "))}</p> : null}
        {reason ? <p className="first-letter:uppercase">{t.reasons[reason] ?? reason}</p> : null}
      </div>
      {draft === null ? null : <ArgumentsField draft={draft} onChange={setDraft} isBroken={isBroken} />}
      {error ? (
        <p role="alert" className="text-[13px] text-danger">
          {error}
        </p>
      ) : null}
      <div className="flex flex-wrap gap-2">
        <Button look="primary" disabled={isBroken} onClick={() => void approve("once")}>
          {t.allow}
        </Button>
        <Button disabled={isBroken} title={t.rememberHint} onClick={() => void approve("run")}>
          {t.allowInRun}
        </Button>
        <Button disabled={isBroken} title={t.rememberHint} onClick={() => void approve("always")}>
          {t.alwaysAllow}
        </Button>
        {draft === null ? (
          <Button onClick={() => setDraft(JSON.stringify(input ?? {}, null, 2))}>{t.editInput}</Button>
        ) : (
          <Button onClick={() => setDraft(null)}>{t.discardEdit}</Button>
        )}
        <Button look="danger" onClick={() => void answer({ approved: false })}>
          {t.decline}
        </Button>
      </div>
    </fieldset>
  );
}

interface ArgumentsFieldProps {
  draft: string;
  isBroken: boolean;
  onChange: (draft: string) => void;
}

function ArgumentsField({ draft, isBroken, onChange }: ArgumentsFieldProps) {
  const t = useText();
  const id = useId();
  return (
    <div>
      <textarea
        aria-label={t.input}
        aria-invalid={isBroken}
        aria-describedby={isBroken ? id : undefined}
        value={draft}
        spellCheck={false}
        rows={Math.min(14, draft.split("\n").length + 1)}
        onChange={(event) => onChange(event.target.value)}
        className={`field-sizing-content max-h-88 w-full resize-y rounded-lg border bg-surface px-3 py-2 font-mono text-[12.5px] leading-[1.6] ${isBroken ? "border-danger" : "border-line focus:border-line-strong"}`}
      />
      {isBroken ? (
        <p id={id} className="mt-1 text-[12.5px] text-danger">
          {t.notAnObject}
        </p>
      ) : null}
    </div>
  );
}
