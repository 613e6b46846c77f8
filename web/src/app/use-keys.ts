/** The keyboard shortcuts of the page. */

import { useLayoutEffect } from "react";

export interface KeyActions {
  onPalette: () => void;
  onNew: () => void;
  onFocus: () => void;
  onStop: () => void;
}

const isMac = () => /mac|iphone|ipad/i.test(navigator.platform);

/** How a key combination is written on this platform. */
export function keysText(key: string, withShift = false): string {
  return isMac() ? `${withShift ? "⇧" : ""}⌘${key}` : `Ctrl+${withShift ? "Shift+" : ""}${key}`;
}

export function useKeys(actions: KeyActions): void {
  // Before the page is painted, so that the keys work as soon as it is visible.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const action = actionFor(event, actions);
      if (action === null) return;
      event.preventDefault();
      action();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [actions]);
}

function actionFor(event: KeyboardEvent, actions: KeyActions): (() => void) | null {
  const hasModifier = isMac() ? event.metaKey : event.ctrlKey;
  if (hasModifier && event.key.toLowerCase() === "k") return actions.onPalette;
  if (hasModifier && event.shiftKey && event.key.toLowerCase() === "o") return actions.onNew;
  if (
    event.key === "Escape" &&
    !event.defaultPrevented &&
    document.querySelector("dialog[open], [role=menu]") === null
  ) {
    return actions.onStop;
  }
  const isTyping = event.target instanceof HTMLElement && event.target.closest("input, textarea, select") !== null;
  return event.key === "/" && !isTyping ? actions.onFocus : null;
}
