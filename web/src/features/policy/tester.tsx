import { useId, useState } from "react";
import { fieldsOf, inputOf } from "@/features/policy/call-form";
import type { PolicyData } from "@/features/policy/policy-panel";
import { ActionMark, RuleRow } from "@/features/policy/rule-list";
import { DEFAULT_AGENT } from "@/protocol/catalog";
import { MODES } from "@/protocol/mode";
import type { Decision } from "@/protocol/policy";
import { titleIn, useText } from "@/text/text";
import { tryCall } from "@/transport/policy";
import { Button } from "@/ui/button";
import { SelectField, TextField } from "@/ui/field";
import { ErrorLine } from "@/ui/notice";
import { Spinner } from "@/ui/spinner";

/** What would happen to a call, and why. */
export function Tester({ data: { policy, tools, agents } }: { data: PolicyData }) {
  const t = useText();
  const [tool, setTool] = useState(tools[0]?.name ?? "");
  const [values, setValues] = useState<Record<string, string>>({});
  const [mode, setMode] = useState<string>(policy.mode);
  const [agent, setAgent] = useState(DEFAULT_AGENT);
  const [decision, setDecision] = useState<Decision | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const fields = fieldsOf(tools.find(({ name }) => name === tool));
  const ask = async () => {
    setBusy(true);
    try {
      setDecision(await tryCall({ tool, arguments: inputOf(fields, values), agent, mode }));
      setError(null);
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  const changed = <T,>(set: (value: T) => void) => {
    return (value: T) => {
      set(value);
      setDecision(null);
    };
  };
  return (
    <div className="grid gap-x-10 gap-y-6 @3xl:grid-cols-[minmax(0,22rem)_minmax(0,1fr)]">
      <form
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          void ask();
        }}
      >
        <SelectField
          name={t.tool}
          value={tool}
          choices={tools.map((one) => ({ value: one.name, name: titleIn(t, one.title) }))}
          onChange={changed(setTool)}
        />
        {fields.map((field) => (
          <TextField
            key={`${tool} ${field.name}`}
            name={field.name}
            value={values[field.name] ?? ""}
            onChange={(value) => changed(setValues)({ ...values, [field.name]: value })}
            isCode
          />
        ))}
        <div className="grid grid-cols-2 gap-3">
          <SelectField
            name={t.mode}
            value={mode}
            choices={MODES.map((one) => ({ value: one, name: t.modes[one] }))}
            onChange={changed(setMode)}
          />
          <SelectField
            name={t.agent}
            value={agent}
            choices={agents.map((one) => ({ value: one.name, name: titleIn(t, one.title) }))}
            onChange={changed(setAgent)}
          />
        </div>
        <Button look="primary" type="submit" disabled={isBusy || tool === ""}>
          {isBusy ? <Spinner /> : null} {t.tryCall}
        </Button>
        {error === null ? null : <ErrorLine error={error} />}
      </form>
      <div aria-live="polite">
        {decision === null ? <p className="text-[13px] text-faint">{t.tryHint}</p> : <Outcome decision={decision} />}
      </div>
    </div>
  );
}

function Outcome({ decision }: { decision: Decision }) {
  const t = useText();
  const heading = useId();
  return (
    <section aria-labelledby={heading}>
      <h3 id={heading} className="flex items-start gap-2.5 pb-1 text-[17px] font-semibold">
        <ActionMark action={decision.action} size={19} /> {t.decisions[decision.action]}
      </h3>
      <p className="pb-3 text-[13px] text-soft">{t.stepsHint}</p>
      <ol>
        {decision.steps.map(({ rule, condition }, index) => (
          <RuleRow
            // biome-ignore lint/suspicious/noArrayIndexKey: rules have no other identity than their place
            key={index}
            rule={rule}
            isDecisive={condition === null}
            note={condition === null ? t.ruleDecides : (t.mismatches[condition] ?? t.ruleDoesNotMatch)}
          />
        ))}
      </ol>
    </section>
  );
}
