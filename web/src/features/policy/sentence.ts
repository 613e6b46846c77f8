/** A rule of the policy as a sentence. */

import type { PolicyRule } from "@/protocol/policy";
import { readableName } from "@/protocol/shapes";
import { type Text, titleIn } from "@/text/text";

type Sayable = Pick<PolicyRule, "action" | "tool" | "kinds" | "arguments" | "exact" | "agent" | "modes"> & {
  owner?: string | null;
};

/** What a rule does, to which calls. */
export function sentenceOf(rule: Sayable, t: Text, agentName = readableName): string {
  const conditions = Object.entries(rule.arguments).map(([name, pattern]) => t.ruleWhere(name, pattern));
  if (rule.exact !== null) conditions.push(t.ruleExactly(shorten(rule.exact)));
  if (rule.agent !== "*") conditions.push(t.ruleAgent(agentName(plainName(rule.agent))));
  if (rule.modes.length > 0) conditions.push(t.ruleModes(t.listOr(rule.modes.map((mode) => t.modes[mode]))));
  if (rule.owner) conditions.push(t.ruleOwner(rule.owner));
  return t.ruleSentence(t.ruleActions[rule.action], subjectOf(rule, t), conditions);
}

function subjectOf({ tool, kinds }: Sayable, t: Text): string {
  const named = tool === "*" ? null : titleIn(t, readableName(plainName(tool)));
  if (kinds.length === 0 || (named !== null && !named.includes("*"))) return named ?? t.anyTool;
  const words = t.listOr(kinds.map((kind) => t.kindNames[kind] ?? kind));
  if (kinds.length === 1 && kinds[0] === "other") return t.toolsWithoutKind;
  return named === null ? t.toolsThat(words) : t.namedToolsThat(named, words);
}

/** The name that an escaped glob stands for. */
function plainName(glob: string): string {
  return glob.replaceAll(/\[([*?[])\]/g, "$1");
}

function shorten(text: string): string {
  return text.length > 120 ? `${text.slice(0, 119)}…` : text;
}
