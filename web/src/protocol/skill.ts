/** A skill that a question names, as a part of it. */

import type { MessagePart } from "@/protocol/message";
import { list, optionalText, record, text } from "@/protocol/shapes";

export interface UsedSkill {
  name: string;
  description: string;
  isUnknown: boolean;
  /** The names that a misspelt one may mean. */
  nearest: string[];
}

/** The skill in a `data-skill` part; null for every other part. */
export function skillIn(part: MessagePart): UsedSkill | null {
  if (part.type !== "data-skill") return null;
  const data = record((part as { data?: unknown }).data);
  return {
    name: text(data["name"]),
    description: text(data["description"]),
    isUnknown: optionalText(data["error"]) !== null,
    nearest: list(data["nearest"]).filter((name) => typeof name === "string"),
  };
}
