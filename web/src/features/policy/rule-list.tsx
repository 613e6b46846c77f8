import { Ban, Check, MessageCircleQuestion } from "lucide-react";
import { sentenceOf } from "@/features/policy/sentence";
import type { Policy, PolicyAction, PolicyRule } from "@/protocol/policy";
import { useText } from "@/text/text";
import { useAgentName } from "@/ui/agent-name";
import { FaultRow } from "@/ui/panel";

const MARKS = { allow: Check, ask: MessageCircleQuestion, deny: Ban };
const COLORS = { allow: "text-accent", ask: "text-warn", deny: "text-danger" };

/** All rules in the order in which they are tried, and the files with errors. */
export function RuleList({ policy, onFile }: { policy: Policy; onFile: () => void }) {
  const t = useText();
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
          <RuleRow key={index} rule={rule} onFile={rule.source === "workspace" ? onFile : undefined} />
        ))}
      </ol>
    </>
  );
}

interface RuleRowProps {
  rule: PolicyRule;
  /** What is said about the rule instead of where it comes from. */
  note?: string | undefined;
  isDecisive?: boolean;
  onFile?: (() => void) | undefined;
}

/** A rule as a sentence, and where it comes from. */
export function RuleRow({ rule, note, isDecisive = false, onFile }: RuleRowProps) {
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
