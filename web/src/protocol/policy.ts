/** The policy: its rules, its file, what would happen to a call, and what was always allowed. */

import { isMode, type Mode } from "@/protocol/mode";
import { isRecord, type Json, list, number, optionalText, record, text, time } from "@/protocol/shapes";

export const ACTIONS = ["allow", "ask", "deny"] as const;
export type PolicyAction = (typeof ACTIONS)[number];

export interface PolicyRule {
  /** By which a rule of the workspace's file is removed. */
  id: string | null;
  action: PolicyAction;
  tool: string;
  kinds: string[];
  arguments: Record<string, string>;
  exact: string | null;
  agent: string;
  modes: Mode[];
  priority: number;
  name: string;
  reason: string;
  owner: string | null;
  source: string;
  path: string | null;
  line: number | null;
}

export interface Policy {
  rules: PolicyRule[];
  mode: Mode;
  problems: { path: string; error: string; keepsLastGood: boolean }[];
  notices: string[];
}

export interface PolicyFile {
  path: string;
  text: string;
  version: string;
  problem: string | null;
}

export interface NewRule {
  action: PolicyAction;
  tool: string;
  arguments: Record<string, string>;
  agent: string;
  modes: Mode[];
  priority: number;
  reason: string;
}

export interface Trial {
  tool: string;
  arguments: Record<string, unknown>;
  agent: string;
  mode: string;
}

/** A rule on the way to the decision; `condition` is why it does not match, null if it decides. */
export interface TrialStep {
  rule: PolicyRule;
  condition: string | null;
}

export interface Decision {
  action: PolicyAction;
  rule: PolicyRule;
  steps: TrialStep[];
}

/** What was always allowed. */
export interface RememberedAnswer {
  id: string;
  tool: string;
  args: unknown;
  agent: string;
  owner: string;
  sessionId: string | null;
  givenAt: number | null;
  undoneAt: number | null;
}

function parseAction(value: unknown): PolicyAction {
  return ACTIONS.find((one) => one === value) ?? "ask";
}

function parseRule(value: Json): PolicyRule {
  const patterns = record(value["arguments"]);
  return {
    id: optionalText(value["id"]),
    action: parseAction(value["action"]),
    tool: text(value["tool"], "*"),
    kinds: list(value["kinds"]).map((one) => text(one)),
    arguments: Object.fromEntries(Object.entries(patterns).map(([name, pattern]) => [name, text(pattern)])),
    exact: optionalText(value["exact"]),
    agent: text(value["agent"], "*"),
    modes: list(value["modes"]).filter(isMode),
    priority: number(value["priority"]),
    name: text(value["name"]),
    reason: text(value["reason"]),
    owner: optionalText(value["owner"]),
    source: text(value["source"]),
    path: optionalText(value["path"]),
    line: typeof value["line"] === "number" ? value["line"] : null,
  };
}

export function parsePolicy(value: unknown): Policy {
  const policy = record(value);
  return {
    rules: list(policy["rules"]).filter(isRecord).map(parseRule),
    mode: isMode(policy["mode"]) ? policy["mode"] : "default",
    problems: list(policy["problems"])
      .filter(isRecord)
      .map((one) => ({
        path: text(one["path"]),
        error: text(one["error"]),
        keepsLastGood: one["keeps_last_good"] === true,
      })),
    notices: list(policy["notices"]).map((one) => text(one)),
  };
}

export function parsePolicyFile(value: unknown): PolicyFile {
  const file = record(value);
  return {
    path: text(file["path"]),
    text: text(file["text"]),
    version: text(file["version"]),
    problem: optionalText(file["problem"]),
  };
}

export function parseDecision(value: unknown): Decision {
  const decision = record(value);
  return {
    action: parseAction(decision["action"]),
    rule: parseRule(record(decision["rule"])),
    steps: list(decision["steps"])
      .filter(isRecord)
      .map((step) => ({ rule: parseRule(record(step["rule"])), condition: optionalText(step["condition"]) })),
  };
}

export function parseRemembered(value: unknown): RememberedAnswer[] {
  return list(record(value)["rules"])
    .filter(isRecord)
    .map((rule) => ({
      id: text(rule["id"]),
      tool: text(rule["tool"]),
      args: rule["args"] ?? null,
      agent: text(rule["agent"]),
      owner: text(rule["owner"]),
      sessionId: optionalText(rule["session_id"]),
      givenAt: optionalText(rule["given_at"]) === null ? null : time(rule["given_at"]),
      undoneAt: optionalText(rule["undone_at"]) === null ? null : time(rule["undone_at"]),
    }));
}
