/** The texts behind agents, skills and prompts. */

import { optionalText, record, text } from "@/protocol/shapes";

export type SourceKind = "agents" | "skills" | "prompts";

export interface Source {
  path: string;
  text: string;
  /** Changes with the text. */
  version: string;
  /** Whether it is in the workspace; a change of another one becomes a copy there. */
  isOwn: boolean;
  /** Why the text cannot be used, if so. */
  problem: string | null;
}

export function parseSource(value: unknown): Source {
  const body = record(value);
  return {
    path: text(body["path"]),
    text: text(body["text"]),
    version: text(body["version"]),
    isOwn: body["is_own"] === true,
    problem: optionalText(body["problem"]),
  };
}
