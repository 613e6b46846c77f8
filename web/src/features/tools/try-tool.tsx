import { Play } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { FieldView } from "@/features/tools/field-view";
import { type FormValues, readForm } from "@/features/tools/read-form";
import { fieldsOf } from "@/features/tools/schema-form";
import { type TrialBackend, TrialStore } from "@/features/tools/trial";
import type { ToolInfo } from "@/protocol/catalog";
import { errorText } from "@/text/errors";
import { formatSeconds } from "@/text/format";
import { useText } from "@/text/text";
import { Button } from "@/ui/button";
import { ScrollBlock } from "@/ui/scroll-block";
import { Spinner } from "@/ui/spinner";
import { useStore } from "@/ui/store";

interface TryToolProps {
  tool: ToolInfo;
  backend: TrialBackend;
}

/** A form made from the tool's schema, the question that a call asks, and its result. */
export function TryTool({ tool, backend }: TryToolProps) {
  const t = useText();
  const fields = useMemo(() => fieldsOf(tool.parameters), [tool]);
  const [values, setValues] = useState<FormValues>({});
  const [faults, setFaults] = useState<string[]>([]);
  const [store] = useState(() => new TrialStore(backend));
  const trial = useStore(store);
  useEffect(() => () => store.leave(), [store]);

  const run = () => {
    const form = readForm(fields, values);
    setFaults(form.faults);
    if (form.faults.length === 0) void store.run(tool.name, form.args);
  };
  return (
    <form
      className="mt-1 mb-3 space-y-3 rounded-xl border border-line bg-sunken p-3.5"
      onSubmit={(event) => {
        event.preventDefault();
        run();
      }}
    >
      {fields.map((field) => (
        <FieldView
          key={field.name}
          field={field}
          value={field.name in values ? values[field.name] : field.initial}
          path={field.name}
          faults={faults}
          onChange={(value) => setValues({ ...values, [field.name]: value })}
        />
      ))}
      <Button look="primary" type="submit" disabled={trial.phase === "running"}>
        {trial.phase === "running" ? <Spinner /> : <Play size={13} aria-hidden="true" />} {t.tryTool}
      </Button>
      {trial.question === null ? null : (
        <Question reason={trial.question.reason} onAnswer={(isAllowed) => void store.answer(isAllowed)} />
      )}
      {trial.phase === "done" || trial.phase === "failed" ? (
        <div role={trial.phase === "failed" ? "alert" : "status"}>
          <ScrollBlock
            className={`max-h-72 rounded-lg border border-line bg-surface p-3 text-[12.5px] break-words whitespace-pre-wrap ${trial.phase === "failed" ? "text-danger" : ""}`}
          >
            {trial.error === null ? trial.text : errorText(trial.error, t)}
          </ScrollBlock>
          {trial.seconds === null ? null : (
            <p className="mt-1 text-right text-[12px] text-faint tabular-nums">{formatSeconds(trial.seconds)}</p>
          )}
        </div>
      ) : null}
    </form>
  );
}

function Question({ reason, onAnswer }: { reason: string | null; onAnswer: (isAllowed: boolean) => void }) {
  const t = useText();
  return (
    <fieldset className="rounded-lg border border-line bg-surface p-3">
      <legend className="sr-only">{t.mayRun}</legend>
      <p role="status" className="text-[13.5px] font-medium">
        {t.mayRun}
      </p>
      {reason === null ? null : (
        <p className="text-[13px] text-soft first-letter:uppercase">{t.reasons[reason] ?? reason}</p>
      )}
      <div className="mt-2.5 flex gap-2">
        <Button look="primary" onClick={() => onAnswer(true)}>
          {t.allow}
        </Button>
        <Button onClick={() => onAnswer(false)}>{t.decline}</Button>
      </div>
    </fieldset>
  );
}
