/** The policy of the workspace. */

import { type Modes, parseModes } from "@/protocol/mode";
import {
  type Decision,
  type NewRule,
  type Policy,
  type PolicyFile,
  parseDecision,
  parsePolicy,
  parsePolicyFile,
  parseRemembered,
  type RememberedAnswer,
  type Trial,
} from "@/protocol/policy";
import { getJson, sendJson } from "@/transport/http";

const BASE = "/api/v1/policy";

export async function readPolicy(): Promise<Policy> {
  return parsePolicy(await getJson(BASE));
}

export async function tryCall(trial: Trial): Promise<Decision> {
  return parseDecision(await sendJson("POST", `${BASE}/try`, trial));
}

export async function readPolicyFile(): Promise<PolicyFile> {
  return parsePolicyFile(await getJson(`${BASE}/file`));
}

/** Replaces the text of a version of the file. */
export async function writePolicyFile(text: string, version: string): Promise<PolicyFile> {
  return parsePolicyFile(await sendJson("PUT", `${BASE}/file`, { text, version }));
}

export async function addRule(rule: NewRule): Promise<PolicyFile> {
  return parsePolicyFile(await sendJson("POST", `${BASE}/rules`, rule));
}

/** Removes a rule from the file, with those of the same entry. */
export async function removeRule(id: string): Promise<PolicyFile> {
  return parsePolicyFile(await sendJson("DELETE", `${BASE}/rules/${encodeURIComponent(id)}`));
}

export async function listModes(): Promise<Modes> {
  return parseModes(await getJson(`${BASE}/modes`));
}

export async function listRemembered(): Promise<RememberedAnswer[]> {
  return parseRemembered(await getJson(`${BASE}/remembered`));
}

export async function undoRemembered(id: string): Promise<void> {
  await sendJson("DELETE", `${BASE}/remembered/${encodeURIComponent(id)}`);
}
