/** The prompt library. */

import { type PromptFault, type PromptInfo, parsePrompts } from "@/protocol/prompt";
import { record, text } from "@/protocol/shapes";
import { getJson, sendJson } from "@/transport/http";

const BASE = "/api/v1/prompts";

export async function listPrompts(): Promise<{ prompts: PromptInfo[]; errors: PromptFault[] }> {
  return parsePrompts(await getJson(BASE));
}

/** The text of a prompt with these values. */
export async function renderPrompt(name: string, variables: Record<string, string>): Promise<string> {
  const body = await sendJson("POST", `${BASE}/${encodeURIComponent(name)}/render`, { variables });
  return text(record(body)["text"]);
}
