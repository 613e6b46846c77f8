/** Arguments as typed by the user. */

import { isRecord } from "@/protocol/shapes";

export type ParsedArguments = { isValid: true; value: Record<string, unknown> } | { isValid: false };

export function parseArguments(draft: string): ParsedArguments {
  try {
    const value: unknown = JSON.parse(draft);
    return isRecord(value) ? { isValid: true, value } : { isValid: false };
  } catch {
    return { isValid: false };
  }
}
