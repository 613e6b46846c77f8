/** The prompt library. */

import { type Fault, parseFault } from "@/protocol/catalog";
import { isRecord, list, optionalText, record, text } from "@/protocol/shapes";

export interface PromptVariable {
  name: string;
  description: string;
  /** The value if none is given; null if one is required. */
  preset: string | null;
  choices: string[];
}

export interface PromptInfo {
  name: string;
  title: string;
  description: string;
  source: string | null;
  variables: PromptVariable[];
}

export interface PromptFault extends Fault {
  /** Whether the version before is still in use. */
  keepsLastGood: boolean;
}

const words = (value: unknown): string => (value === null || value === undefined ? "" : String(value));

export function parsePrompts(value: unknown): { prompts: PromptInfo[]; errors: PromptFault[] } {
  const body = record(value);
  return {
    prompts: list(body["prompts"])
      .filter(isRecord)
      .map((prompt) => ({
        name: text(prompt["name"]),
        title: text(prompt["title"]) || text(prompt["name"]),
        description: text(prompt["description"]),
        source: optionalText(prompt["path"]),
        variables: list(prompt["variables"]).filter(isRecord).map(parseVariable),
      })),
    errors: list(body["errors"]).map((error) => ({
      ...parseFault(error),
      keepsLastGood: record(error)["keeps_last_good"] === true,
    })),
  };
}

function parseVariable(value: Record<string, unknown>): PromptVariable {
  return {
    name: text(value["name"]),
    description: text(value["description"]),
    preset: value["required"] === true ? null : words(value["default"]),
    choices: list(value["choices"]).map(words),
  };
}
