/** One module of an extension folder: what it has registered, or why it could not be loaded. */

import type { BrowserTool, CallState, Card } from "@/protocol/dovetail";

/** A card as it was registered. */
export interface CardOfLook {
  Card: Card;
  states: readonly CallState[];
}

export interface Look {
  folder: string;
  url: string;
  cards: ReadonlyMap<string, CardOfLook>;
  browserTools: ReadonlyMap<string, BrowserTool>;
  /** Why it could not be loaded; null for a sound one. */
  error: string | null;
}

/** The file of a module, as its author names it. */
export function fileOf(folder: string, url: string): string {
  return `extensions/${folder}/web/${decodeURIComponent(url.split("/").slice(4).join("/"))}`;
}

/** An error in a sentence, with its kind where that helps. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.name === "Error" ? error.message : `${error.name}: ${error.message}`;
}
