import { Play } from "lucide-react";
import { useMemo, useState } from "react";
import { FieldView } from "@/features/tools/field-view";
import { type FormValues, readForm } from "@/features/tools/read-form";
import { fieldsOf } from "@/features/tools/schema-form";
import type { ToolInfo } from "@/protocol/catalog";
import { isRecord, number, record, text } from "@/protocol/shapes";
import { formatSeconds } from "@/text/format";
import { useText } from "@/text/text";
import { Button } from "@/ui/button";
import { ScrollBlock } from "@/ui/scroll-block";
import { Spinner } from "@/ui/spinner";

interface TryToolProps {
  tool: ToolInfo;
  call: (name: string, args: Record<string, unknown>) => Promise<unknown>;
}

type Trial = { state: "idle" | "running" } | { state: "done" | "failed"; text: string; seconds: number | null };

/** A form made from the tool's schema, and the result of a call. */
export function TryTool({ tool, call }: TryToolProps) {
  const t = useText();
  const fields = useMemo(() => fieldsOf(tool.parameters), [tool]);
  const [values, setValues] = useState<FormValues>({});
  const [faults, setFaults] = useState<string[]>([]);
  const [trial, setTrial] = useState<Trial>({ state: "idle" });

  const run = async () => {
    const form = readForm(fields, values);
    setFaults(form.faults);
    if (form.faults.length > 0) return;
    setTrial({ state: "running" });
    try {
      setTrial(outcomeOf(await call(tool.name, form.args)));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      setTrial({ state: "failed", text: message, seconds: null });
    }
  };
  return (
    <form
      className="mt-1 mb-3 space-y-3 rounded-xl border border-line bg-sunken p-3.5"
      onSubmit={(event) => {
        event.preventDefault();
        void run();
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
      <Button look="primary" type="submit" disabled={trial.state === "running"}>
        {trial.state === "running" ? <Spinner /> : <Play size={13} aria-hidden="true" />} {t.tryTool}
      </Button>
      {trial.state === "done" || trial.state === "failed" ? (
        <div role={trial.state === "failed" ? "alert" : "status"}>
          <ScrollBlock
            className={`max-h-72 rounded-lg border border-line bg-surface p-3 text-[12.5px] break-words whitespace-pre-wrap ${trial.state === "failed" ? "text-danger" : ""}`}
          >
            {trial.text}
          </ScrollBlock>
          {trial.seconds === null ? null : (
            <p className="mt-1 text-right text-[12px] text-faint tabular-nums">{formatSeconds(trial.seconds)}</p>
          )}
        </div>
      ) : null}
    </form>
  );
}

/** The result of a call: its error message, otherwise its data, otherwise the text for the model. */
function outcomeOf(answer: unknown): Trial {
  const { error, result, duration } = record(answer);
  const seconds = number(duration);
  if (isRecord(error)) return { state: "failed", text: text(error["message"]), seconds };
  const { return_display: display, data, llm_content: content } = record(result);
  const value = display ?? data ?? content ?? result;
  return { state: "done", text: typeof value === "string" ? value : JSON.stringify(value, null, 2), seconds };
}
