import { useId } from "react";
import { useText } from "@/text/text";
import { FIELD_LOOK } from "@/ui/field";

interface ArgumentsFieldProps {
  draft: string;
  isBroken: boolean;
  onChange: (draft: string) => void;
}

/** The input of a call as JSON. */
export function ArgumentsField({ draft, isBroken, onChange }: ArgumentsFieldProps) {
  const t = useText();
  const id = useId();
  return (
    <div>
      <textarea
        // biome-ignore lint/a11y/noAutofocus: the field was just asked for
        autoFocus
        aria-label={t.input}
        aria-invalid={isBroken}
        aria-describedby={isBroken ? id : undefined}
        value={draft}
        spellCheck={false}
        rows={Math.min(14, draft.split("\n").length + 1)}
        onChange={(event) => onChange(event.target.value)}
        className={`${FIELD_LOOK} field-sizing-content max-h-88 resize-y py-2 font-mono leading-[1.6]`}
      />
      {isBroken ? (
        <p id={id} className="mt-1 text-[12.5px] text-danger">
          {t.notAnObject}
        </p>
      ) : null}
    </div>
  );
}

/** Why a call is declined. */
export function ReasonField({ reason, onChange }: { reason: string; onChange: (reason: string) => void }) {
  const t = useText();
  const id = useId();
  return (
    <div className="space-y-1">
      <label htmlFor={id} className="block text-[13px] font-medium">
        {t.whyNot}
      </label>
      <input
        id={id}
        // biome-ignore lint/a11y/noAutofocus: the field was just asked for
        autoFocus
        value={reason}
        placeholder={t.whyNotHint}
        onChange={(event) => onChange(event.target.value)}
        className={`${FIELD_LOOK} h-8`}
      />
    </div>
  );
}
