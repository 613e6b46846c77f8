import { Ban, Check, MessageCircleQuestion, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { sentenceOf } from "@/features/policy/sentence";
import type { Policy, PolicyAction, PolicyRule } from "@/protocol/policy";
import { useText } from "@/text/text";
import { keepAdminToken } from "@/transport/admin";
import { removeRule } from "@/transport/policy";
import { useAgentName } from "@/ui/agent-name";
import { IconButton } from "@/ui/button";
import { Confirm } from "@/ui/dialog";
import { FaultRow } from "@/ui/panel";

const MARKS = { allow: Check, ask: MessageCircleQuestion, deny: Ban };
const COLORS = { allow: "text-accent", ask: "text-warn", deny: "text-danger" };

interface RuleListProps {
  policy: Policy;
  onFile: () => void;
  onChanged: () => Promise<void>;
}

/** All rules in the order in which they are tried, and the files with errors. */
export function RuleList({ policy, onFile, onChanged }: RuleListProps) {
  const t = useText();
  const [leaving, setLeaving] = useState<PolicyRule | null>(null);
  return (
    <>
      <ul>
        {policy.problems.map(({ path, error, keepsLastGood }) => (
          <FaultRow
            key={path}
            name={t.policyFileBroken}
            message={error}
            source={null}
            note={keepsLastGood ? t.keptRules : t.everythingAsked}
          />
        ))}
      </ul>
      {policy.notices.map((notice) => (
        <p key={notice} className="mb-3 rounded-xl bg-warn-soft px-4 py-3 text-[13px]">
          {notice}
        </p>
      ))}
      <p className="pb-2 text-[13px] text-soft">{t.rulesOrder(t.modes[policy.mode])}</p>
      <ol>
        {policy.rules.map((rule, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rules have no other identity than their place
          <RuleRow key={index} rule={rule} onFile={rule.source === "workspace" ? onFile : undefined}>
            {rule.id === null ? null : (
              <IconButton label={t.removeRule} className="-my-1 size-7" onClick={() => setLeaving(rule)}>
                <Trash2 size={14} />
              </IconButton>
            )}
          </RuleRow>
        ))}
      </ol>
      {leaving === null ? null : (
        <RemoveRule rule={leaving} rules={policy.rules} onRemoved={onChanged} onClose={() => setLeaving(null)} />
      )}
    </>
  );
}

interface RemoveRuleProps {
  rule: PolicyRule;
  rules: readonly PolicyRule[];
  onRemoved: () => Promise<void>;
  onClose: () => void;
}

/** Removes the entry of a rule from its file, with all the tools that it names. */
function RemoveRule({ rule, rules, onRemoved, onClose }: RemoveRuleProps) {
  const t = useText();
  const agentName = useAgentName();
  const entry = rules.filter((one) => one.id !== null && one.line === rule.line);
  return (
    <Confirm
      title={t.removeRuleQuestion}
      action={t.removeRuleAction}
      isDanger
      onConfirm={() => removeRule(rule.id ?? "").then(onRemoved)}
      onClose={onClose}
      onToken={keepAdminToken}
    >
      <ul className="mb-3 space-y-1 rounded-xl bg-sunken px-4 py-3">
        {entry.map((one) => (
          <li key={one.id} className="break-words">
            {sentenceOf(one, t, agentName)}
          </li>
        ))}
      </ul>
      <p className="mb-3 text-[13px] text-soft">{t.removeRuleHint}</p>
    </Confirm>
  );
}

interface RuleRowProps {
  rule: PolicyRule;
  /** What is said about the rule instead of where it comes from. */
  note?: string | undefined;
  isDecisive?: boolean;
  onFile?: (() => void) | undefined;
  /** What can be done with the rule. */
  children?: ReactNode;
}

/** A rule as a sentence, and where it comes from. */
export function RuleRow({ rule, note, isDecisive = false, onFile, children }: RuleRowProps) {
  const t = useText();
  const agentName = useAgentName();
  const place = rule.path === null ? (t.ruleSources[rule.source] ?? rule.source) : placeOf(rule);
  return (
    <li
      className={`flex items-start gap-2.5 border-t border-line py-2.5 text-[13.5px] first:border-t-0 ${isDecisive ? "font-medium" : ""}`}
    >
      <ActionMark action={rule.action} />
      <div className="min-w-0 flex-1">
        <p className="break-words">{sentenceOf(rule, t, agentName)}</p>
        {note === undefined && rule.source !== "built-in" && rule.reason !== "" ? (
          <p className="text-[13px] break-words text-soft">{t.reasons[rule.reason] ?? asSentence(rule.reason)}</p>
        ) : null}
        {note === undefined ? null : <p className="text-[13px] font-normal text-soft">{note}</p>}
      </div>
      <span className="max-w-[40%] shrink-0 truncate text-right text-[12px] font-normal text-faint" title={place}>
        {onFile === undefined ? (
          place
        ) : (
          <button type="button" onClick={onFile} className="hover:text-ink hover:underline">
            {place}
          </button>
        )}
        {rule.priority > 0 ? <span className="block">{t.rulePriority(rule.priority)}</span> : null}
      </span>
      {children}
    </li>
  );
}

export function ActionMark({ action, size = 15 }: { action: PolicyAction; size?: number }) {
  const Mark = MARKS[action];
  return <Mark size={size} aria-hidden="true" className={`mt-[3px] shrink-0 ${COLORS[action]}`} />;
}

function placeOf({ path, line }: PolicyRule): string {
  return line === null ? (path ?? "") : `${path}:${line}`;
}

/** A reason as the rule's author wrote it, with a capital letter and a full stop. */
function asSentence(reason: string): string {
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}${/[.!?。！？]$/.test(reason) ? "" : "."}`;
}
