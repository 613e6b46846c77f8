/** The instructions and parameters of a chat, as stored and as typed. */

import type { ChatOptions, ChoiceChange } from "@/protocol/session";

export const LONGEST_INSTRUCTIONS = 20_000;
export const EFFORTS = ["off", "low", "medium", "high"] as const;
const OWN: (keyof ChatOptions)[] = ["instructions", "temperature", "max_tokens", "thinking"];

export interface OptionFields {
  instructions: string;
  temperature: string;
  longestAnswer: string;
  thinking: string;
}

/** Whether one of the options that the dialog shows is set. */
export function hasOptions(options: ChatOptions): boolean {
  return OWN.some((name) => options[name] !== undefined && options[name] !== null);
}

export function writeOptions(options: ChatOptions): OptionFields {
  const write = (name: keyof ChatOptions) =>
    options[name] === undefined || options[name] === null ? "" : String(options[name]);
  return {
    instructions: write("instructions"),
    temperature: write("temperature"),
    longestAnswer: write("max_tokens"),
    thinking: write("thinking"),
  };
}

/** A change that removes all of them. */
export const NO_OPTIONS: ChoiceChange = Object.fromEntries(OWN.map((name) => [name, null]));

/** The change that the fields mean, and the fields that mean nothing. */
export function readOptions(fields: OptionFields): { change: ChoiceChange; wrong: (keyof OptionFields)[] } {
  const instructions = fields.instructions.trim();
  // Digits may be grouped, and a decimal sign may be a comma.
  const temperature = readNumber(fields.temperature.replace(",", "."));
  const longestAnswer = readNumber(fields.longestAnswer.replaceAll(/[,.'’](?=\d{3}(\D|$))/g, ""));
  const wrong: (keyof OptionFields)[] = [];
  if (instructions.length > LONGEST_INSTRUCTIONS) wrong.push("instructions");
  if (temperature !== null && !(temperature >= 0 && temperature <= 2)) wrong.push("temperature");
  if (longestAnswer !== null && !(Number.isInteger(longestAnswer) && longestAnswer >= 1)) wrong.push("longestAnswer");
  const thinking = fields.thinking || null;
  return { change: { instructions: instructions || null, temperature, max_tokens: longestAnswer, thinking }, wrong };
}

/** Null if the field is empty, NaN if it holds no number. */
function readNumber(typed: string): number | null {
  const plain = typed.replaceAll(/\s/g, "");
  return plain === "" ? null : Number(plain);
}
