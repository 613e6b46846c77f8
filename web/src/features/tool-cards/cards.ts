/** The cards that extension folders, or a page made of the package, bring for tools, by the name of the tool. */

import { useMemo } from "react";
import { type CallState, callState } from "@/features/tool-cards/tool-view";
import type { Card, CardProps } from "@/protocol/dovetail";
import { type ToolPart, toolName } from "@/protocol/message";
import { type Language, useLanguage } from "@/text/text";
import { Store, useStore } from "@/ui/store";

/** A card, and whose it is. */
export interface OwnCard {
  Card: Card;
  states: readonly CallState[];
  /** Called when the card cannot be drawn. */
  onError: (error: unknown) => void;
}

export class CardRegistry extends Store<{ cards: ReadonlyMap<string, OwnCard> }> {
  readonly #added = new Map<string, OwnCard>();

  constructor() {
    super({ cards: new Map() });
  }

  find(name: string): OwnCard | null {
    return this.read().cards.get(name) ?? null;
  }

  /** Adds a card of the page itself, which comes before those of folders. */
  add(name: string, card: OwnCard): void {
    this.#added.set(name, card);
    this.change({ cards: new Map([...this.read().cards, [name, card]]) });
  }

  /** Replaces the cards of all folders at once, so that a reload is drawn once. */
  replace(cards: ReadonlyMap<string, OwnCard>): void {
    if (cards.size > 0 || this.read().cards.size > 0) this.change({ cards: new Map([...cards, ...this.#added]) });
  }
}

/** The one registry of the page. */
export const registry = new CardRegistry();

/** The card for a call in its present state; null if the page draws it itself. */
export function useOwnCard(part: ToolPart, isLive: boolean): OwnCard | null {
  const { cards } = useStore(registry);
  const own = cards.get(toolName(part));
  return own?.states.includes(callState(part, isLive)) ? own : null;
}

/** A call as plain data. */
export function cardProps(part: ToolPart, isLive: boolean, language: Language): CardProps {
  return {
    toolName: toolName(part),
    callId: part.toolCallId,
    input: part.input,
    output: part.state === "output-available" ? part.output : undefined,
    state: callState(part, isLive),
    error: part.state === "output-error" ? part.errorText : null,
    isLive,
    language,
  };
}

export function useCardProps(part: ToolPart, isLive: boolean): CardProps {
  const language = useLanguage();
  return useMemo(() => cardProps(part, isLive, language), [part, isLive, language]);
}
