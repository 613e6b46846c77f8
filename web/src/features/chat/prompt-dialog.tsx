import { useEffect, useRef, useState } from "react";
import type { PromptInfo, PromptVariable } from "@/protocol/prompt";
import { readableName } from "@/protocol/shapes";
import { useText } from "@/text/text";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { SelectField, TextField } from "@/ui/field";
import { ErrorLine } from "@/ui/notice";

interface PromptDialogProps {
  prompt: PromptInfo;
  /** Rejects with the reason if the prompt cannot be filled. */
  onInsert: (values: Record<string, string>) => Promise<void>;
  onClose: () => void;
}

/** Asks for the variables of a prompt. */
export default function PromptDialog({ prompt, onInsert, onClose }: PromptDialogProps) {
  const t = useText();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector<HTMLElement>("textarea, select")?.focus(), []);
  const [values, setValues] = useState(() => presets(prompt));
  const [isTried, setTried] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const isMissing = ({ name, preset }: PromptVariable) => preset === null && (values[name] ?? "").trim() === "";
  const insert = () => {
    setTried(true);
    if (prompt.variables.some(isMissing)) return;
    const given = Object.entries(values).filter(([, value]) => value.trim() !== "");
    onInsert(Object.fromEntries(given)).catch((error: unknown) => setProblem(error));
  };
  return (
    <Dialog
      title={prompt.title}
      onClose={onClose}
      size="medium"
      actions={
        <>
          <Button look="plain" onClick={onClose}>
            {t.cancel}
          </Button>
          <Button look="primary" onClick={insert}>
            {t.insertPrompt}
          </Button>
        </>
      }
    >
      <form
        ref={form}
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          insert();
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) insert();
        }}
      >
        <p className="text-[13px] text-soft">{prompt.description || t.promptFilled}</p>
        {prompt.variables.map((variable) => (
          <VariableField
            key={variable.name}
            variable={variable}
            value={values[variable.name] ?? ""}
            error={isTried && isMissing(variable) ? t.valueMissing : null}
            onChange={(value) => setValues({ ...values, [variable.name]: value })}
          />
        ))}
        {problem === null ? null : <ErrorLine error={problem} />}
      </form>
    </Dialog>
  );
}

interface VariableFieldProps {
  variable: PromptVariable;
  value: string;
  error: string | null;
  onChange: (value: string) => void;
}

function VariableField({ variable, value, error, onChange }: VariableFieldProps) {
  const common = { name: readableName(variable.name), hint: variable.description, error, value, onChange };
  if (variable.choices.length === 0) return <TextField {...common} rows={variable.preset === null ? 3 : 1} />;
  const choices = variable.preset === null ? ["", ...variable.choices] : variable.choices;
  return <SelectField {...common} choices={choices.map((choice) => ({ value: choice, name: choice }))} />;
}

function presets(prompt: PromptInfo): Record<string, string> {
  return Object.fromEntries(prompt.variables.map(({ name, preset }) => [name, preset ?? ""]));
}
