/** The catalog of tools, agents, skills and extension folders. */

import {
  type ExtensionReport,
  type Fault,
  parseAgents,
  parseExtensions,
  parseSkills,
  parseTools,
  type SkillInfo,
  type ToolInfo,
} from "@/protocol/catalog";
import { record, text } from "@/protocol/shapes";
import { getJson, sendJson } from "@/transport/http";

const BASE = "/api/v1";

export async function listTools(): Promise<{ tools: ToolInfo[]; generation: number }> {
  return parseTools(await getJson(`${BASE}/tools`));
}

/** The tools that an agent can use in a chat, after the settings and the policy; without a mode in the server's own. */
export async function listToolsOf(agent: string, mode: string | undefined): Promise<ToolInfo[]> {
  const query = new URLSearchParams({ agent, ...(mode === undefined ? {} : { mode }) });
  return parseTools(await getJson(`${BASE}/tools?${query}`)).tools;
}

/** Calls a tool for the person at this tab, who can be asked; returns the run of the call. */
export async function tryTool(name: string, args: Record<string, unknown>, tabId: string): Promise<string> {
  const path = `${BASE}/tools/${encodeURIComponent(name)}/call`;
  return text(record(await sendJson("POST", path, { arguments: args, tab_id: tabId }))["run_id"]);
}

/** How the call of a tool that was tried has ended. */
export async function trialOutcome(runId: string): Promise<unknown> {
  return record(await getJson(`${BASE}/runs/${encodeURIComponent(runId)}`))["result"];
}

export async function listAgents(): Promise<ReturnType<typeof parseAgents>> {
  return parseAgents(await getJson(`${BASE}/agents`));
}

export async function listSkills(): Promise<{ skills: SkillInfo[]; errors: Fault[] }> {
  return parseSkills(await getJson(`${BASE}/skills`));
}

export async function listExtensions(): Promise<ExtensionReport> {
  return parseExtensions(await getJson(`${BASE}/extensions`));
}

/** Reloads the folders; a server with an admin token requires it here. */
export async function reloadExtensions(token: string): Promise<void> {
  const headers = token === "" ? {} : { "x-admin-token": token };
  await sendJson("POST", `${BASE}/extensions/reload`, undefined, headers);
}
