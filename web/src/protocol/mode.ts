/** How freely an agent may act. */

import { list, record } from "@/protocol/shapes";

export const MODES = ["plan", "default", "auto", "yolo"] as const;
export type Mode = (typeof MODES)[number];

export function isMode(value: unknown): value is Mode {
  return MODES.some((mode) => mode === value);
}

export interface Modes {
  /** The mode of chats that choose none. */
  standard: Mode;
  /** The modes that a chat may choose, the strictest first. */
  permitted: readonly Mode[];
}

export function parseModes(value: unknown): Modes {
  const { default: standard, modes } = record(value);
  return { standard: isMode(standard) ? standard : "default", permitted: list(modes).filter(isMode) };
}
