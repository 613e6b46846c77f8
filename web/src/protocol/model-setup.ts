/** What an operator does with models: keys of providers, and a question to see whether one answers. */

import { list, number, optionalText, record, text } from "@/protocol/shapes";

export interface ProviderKey {
  name: string;
  title: string;
  /** Where its key comes from; null if it has none. */
  source: "page" | "settings" | "environment" | null;
  /** The variable that has the key. */
  variable: string | null;
  /** The last characters of a key that was entered here. */
  ending: string | null;
  isOptional: boolean;
}

export interface ModelCheck {
  answer: string | null;
  seconds: number;
  error: string | null;
  hint: string | null;
}

/** What a provider answered when it was asked for its models. */
export type KeyState = (typeof KEY_STATES)[number];

export interface KeyCheck {
  state: KeyState;
  /** How many models it offers. */
  models: number;
}

const KEY_STATES = ["answers", "unlisted", "key", "page", "failing", "unreachable"] as const;
const SOURCES = ["page", "settings", "environment"] as const;

export function parseKey(value: unknown): ProviderKey {
  const key = record(value);
  return {
    name: text(key["name"]),
    title: text(key["title"]),
    source: SOURCES.find((source) => source === key["source"]) ?? null,
    variable: optionalText(key["variable"]),
    ending: optionalText(key["ending"]),
    isOptional: key["optional"] === true,
  };
}

export function parseKeys(value: unknown): ProviderKey[] {
  return list(record(value)["providers"]).map(parseKey);
}

export function parseCheck(value: unknown): ModelCheck {
  const check = record(value);
  return {
    answer: optionalText(check["answer"]),
    seconds: number(check["seconds"]),
    error: optionalText(check["error"]),
    hint: optionalText(check["hint"]),
  };
}

export function parseKeyCheck(value: unknown): KeyCheck {
  const check = record(value);
  const state = KEY_STATES.find((known) => known === check["state"]) ?? "failing";
  return { state, models: number(check["models"]) };
}
