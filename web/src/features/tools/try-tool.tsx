import { Play } from "lucide-react";
import { useId, useMemo, useState } from "react";
import { type FormField, type FormValues, fieldsOf, readForm } from "@/features/tools/schema-form";
import type { ToolInfo } from "@/protocol/catalog";
import { useText } from "@/text/text";
import { Button } from "@/ui/button";
import { Spinner } from "@/ui/spinner";

interface TryToolProps {
  tool: ToolInfo;
  call: (name: string, args: Record<string, unknown>) => Promise<unknown>;
}

type Trial = { state: "idle" | "running" } | { state: "done"; text: string } | { state: "failed"; text: string };

/** A form from the tool's schema, and what a call with it gives. */
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
      const result = await call(tool.name, form.args);
      setTrial({ state: "done", text: typeof result === "string" ? result : JSON.stringify(result, null, 2) });
    } catch (error) {
      setTrial({ state: "failed", text: error instanceof Error ? error.message : String(error) });
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
          value={values[field.name] ?? field.initial}
          isFaulty={faults.includes(field.name)}
          onChange={(value) => setValues({ ...values, [field.name]: value })}
        />
      ))}
      <Button look="primary" type="submit" disabled={trial.state === "running"}>
        {trial.state === "running" ? <Spinner /> : <Play size={13} aria-hidden="true" />} {t.tryTool}
      </Button>
      {trial.state === "done" || trial.state === "failed" ? (
        <pre
          role={trial.state === "failed" ? "alert" : "status"}
          className={`max-h-72 overflow-auto rounded-lg border border-line bg-surface p-3 font-mono text-[12.5px] leading-[1.6] break-words whitespace-pre-wrap ${trial.state === "failed" ? "text-danger" : ""}`}
        >
          {trial.text}
        </pre>
      ) : null}
    </form>
  );
}

interface FieldViewProps {
  field: FormField;
  value: string;
  isFaulty: boolean;
  onChange: (value: string) => void;
}

function FieldView({ field, value, isFaulty, onChange }: FieldViewProps) {
  const t = useText();
  const id = useId();
  const look = `w-full rounded-lg border bg-surface px-2.5 text-[13px] ${isFaulty ? "border-danger" : "border-line focus:border-line-strong"}`;
  const common = { id, value, "aria-invalid": isFaulty, "aria-required": field.isRequired };
  return (
    <div>
      <label htmlFor={id} className="mb-1 flex items-baseline gap-2 text-[12.5px]">
        <span className="font-mono">{field.name}</span>
        {field.isRequired ? null : <span className="text-faint">{t.optional}</span>}
      </label>
      {field.shape === "choice" || field.shape === "boolean" ? (
        <select {...common} onChange={(event) => onChange(event.target.value)} className={`${look} h-8`}>
          <option value="" />
          {(field.shape === "boolean" ? ["true", "false"] : field.choices).map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      ) : field.shape === "json" ? (
        <textarea
          {...common}
          rows={2}
          onChange={(event) => onChange(event.target.value)}
          className={`${look} py-1.5 font-mono`}
        />
      ) : (
        <input
          {...common}
          inputMode={field.shape === "text" ? "text" : "decimal"}
          onChange={(event) => onChange(event.target.value)}
          className={`${look} h-8`}
        />
      )}
      {field.description ? <p className="mt-0.5 text-[12px] text-faint">{field.description}</p> : null}
    </div>
  );
}
