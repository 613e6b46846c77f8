import { useState } from "react";
import { fieldsOf } from "@/features/policy/call-form";
import type { PolicyData } from "@/features/policy/policy-panel";
import { sentenceOf } from "@/features/policy/sentence";
import { isMode, MODES } from "@/protocol/mode";
import { ACTIONS, type NewRule, type PolicyAction } from "@/protocol/policy";
import { titleIn, useText } from "@/text/text";
import { keepAdminToken } from "@/transport/admin";
import { ServerError } from "@/transport/http";
import { addRule } from "@/transport/policy";
import { useAgentName } from "@/ui/agent-name";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { SelectField, TextField } from "@/ui/field";
import { ErrorLine } from "@/ui/notice";
import { Spinner } from "@/ui/spinner";
import { TokenField } from "@/ui/token-field";

interface RuleFormProps {
  data: PolicyData;
  onAdded: () => Promise<void>;
  onClose: () => void;
}

type Refusal = { kind: "token"; isWrong: boolean } | { kind: "other"; error: unknown } | null;

/** Adds a rule to the policy file of the workspace. */
export function RuleForm({ data: { tools, agents }, onAdded, onClose }: RuleFormProps) {
  const t = useText();
  const agentName = useAgentName();
  const [action, setAction] = useState<PolicyAction>("ask");
  const [tool, setTool] = useState("*");
  const [argument, setArgument] = useState("");
  const [pattern, setPattern] = useState("");
  const [agent, setAgent] = useState("*");
  const [mode, setMode] = useState("");
  const [reason, setReason] = useState("");
  const [refusal, setRefusal] = useState<Refusal>(null);
  const [isBusy, setBusy] = useState(false);
  const fields = fieldsOf(tools.find(({ name }) => name === tool));
  // Without its pattern the rule would be about every input.
  const isIncomplete = argument !== "" && pattern === "";
  const rule: NewRule = {
    action,
    tool,
    arguments: argument !== "" && pattern !== "" ? { [argument]: pattern } : {},
    agent,
    modes: isMode(mode) ? [mode] : [],
    priority: 0,
    reason,
  };
  const add = async (token?: string) => {
    if (token !== undefined) keepAdminToken(token);
    setBusy(true);
    try {
      await addRule(rule);
      await onAdded();
      onClose();
    } catch (error) {
      setRefusal(refusalOf(error, token));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={t.addRule}
      size="medium"
      onClose={onClose}
      actions={
        <>
          <Button look="plain" onClick={onClose}>
            {t.cancel}
          </Button>
          <Button look="primary" disabled={isBusy || isIncomplete} onClick={() => void add()}>
            {isBusy ? <Spinner /> : null} {t.addRule}
          </Button>
        </>
      }
    >
      <div className="grid gap-3 sm:grid-cols-2">
        <SelectField
          name={t.ruleAction}
          value={action}
          choices={ACTIONS.map((one) => ({ value: one, name: t.ruleActions[one] }))}
          onChange={(value) => setAction(value as PolicyAction)}
        />
        <SelectField
          name={t.tool}
          value={tool}
          choices={[
            { value: "*", name: t.anyTool },
            ...tools.map((one) => ({ value: one.name, name: titleIn(t, one.title) })),
          ]}
          onChange={(value) => {
            setTool(value);
            setArgument("");
          }}
        />
        {fields.length > 0 ? (
          <>
            <SelectField
              name={t.ruleArgument}
              note={t.optional}
              value={argument}
              choices={[{ value: "", name: t.anyInput }, ...fields.map(({ name }) => ({ value: name, name }))]}
              onChange={setArgument}
            />
            {argument === "" ? null : (
              <TextField name={t.rulePattern} hint={t.rulePatternHint} value={pattern} onChange={setPattern} isCode />
            )}
          </>
        ) : null}
        <SelectField
          name={t.agent}
          value={agent}
          choices={[
            { value: "*", name: t.anyAgent },
            ...agents.map((one) => ({ value: one.name, name: titleIn(t, one.title) })),
          ]}
          onChange={setAgent}
        />
        <SelectField
          name={t.mode}
          value={mode}
          choices={[{ value: "", name: t.anyMode }, ...MODES.map((one) => ({ value: one, name: t.modes[one] }))]}
          onChange={setMode}
        />
        <div className="sm:col-span-2">
          <TextField
            name={t.ruleReason}
            note={t.optional}
            hint={t.ruleReasonHint}
            value={reason}
            onChange={setReason}
          />
        </div>
      </div>
      <p aria-live="polite" className="mt-4 rounded-xl bg-sunken px-4 py-3 text-[14px]">
        {sentenceOf({ ...rule, kinds: [], exact: null }, t, agentName)}
      </p>
      {refusal?.kind === "other" ? (
        <div className="mt-3">
          <ErrorLine error={refusal.error} />
        </div>
      ) : null}
      {refusal?.kind === "token" ? (
        <div className="mt-3">
          <TokenField
            isWrong={refusal.isWrong}
            isBusy={isBusy}
            action={t.addRule}
            onGiven={(token) => void add(token)}
          />
        </div>
      ) : null}
    </Dialog>
  );
}

function refusalOf(error: unknown, token: string | undefined): Refusal {
  if (error instanceof ServerError && error.status === 403) return { kind: "token", isWrong: token !== undefined };
  return { kind: "other", error };
}
