/** The keyboard shortcuts of the page: one table for the keys, the palette and the help. */

import type { Text } from "@/text/text";

export type Action = "onPalette" | "onNew" | "onSidebar" | "onWorkbench" | "onFocus" | "onStop" | "onHelp";

interface Shortcut {
  action: Action;
  /** With Ctrl, or ⌘ on a Mac. */
  isCommand?: boolean;
  isShift?: boolean;
  /** As `KeyboardEvent.key`, in lower case. */
  key: string;
  /** As it is written, if not like the key. */
  sign?: string;
}

const SHORTCUTS: readonly Shortcut[] = [
  { action: "onPalette", isCommand: true, key: "k" },
  { action: "onNew", isCommand: true, isShift: true, key: "o" },
  { action: "onSidebar", isCommand: true, key: "b" },
  { action: "onWorkbench", isCommand: true, key: "." },
  { action: "onFocus", key: "/" },
  { action: "onStop", key: "escape", sign: "Esc" },
  { action: "onHelp", key: "?" },
];

const isMac = () => /mac|iphone|ipad/i.test(navigator.platform);

/** How the keys of an action are written on this platform. */
export function keysOf(action: Action): string {
  const shortcut = SHORTCUTS.find((one) => one.action === action);
  if (shortcut === undefined) return "";
  const key = shortcut.sign ?? shortcut.key.toUpperCase();
  if (!shortcut.isCommand) return key;
  return isMac() ? `${shortcut.isShift ? "⇧" : ""}⌘${key}` : `Ctrl+${shortcut.isShift ? "Shift+" : ""}${key}`;
}

/** The action that a key asks for, if any. */
export function actionOf(event: KeyboardEvent): Action | null {
  // The key belongs to the candidate window of an input method; 229 is how some browsers say so.
  if (event.isComposing || event.keyCode === 229) return null;
  const hasCommand = isMac() ? event.metaKey : event.ctrlKey;
  const found = SHORTCUTS.find(
    ({ key, isCommand = false, isShift = false }) =>
      event.key.toLowerCase() === key && hasCommand === isCommand && (!isCommand || event.shiftKey === isShift),
  );
  if (found === undefined || isElsewhere(event, found)) return null;
  return found.action;
}

/** Whether the key belongs to a field, a dialog or a menu. */
function isElsewhere(event: KeyboardEvent, shortcut: Shortcut): boolean {
  if (shortcut.isCommand) return false;
  const field = event.target instanceof HTMLElement ? event.target.closest("input, textarea, select, dialog") : null;
  if (shortcut.action !== "onStop") return field !== null;
  // The message is the field of the answer; in any other one Escape is about what is written there.
  const isOther = field !== null && !field.matches("[data-rest]");
  return isOther || event.defaultPrevented || document.querySelector("dialog[open], [role=menu]") !== null;
}

/** What the help lists: keys and what they do. */
export function listKeys(t: Text): Array<[string, string]> {
  return [
    [keysOf("onNew"), t.newChat],
    [keysOf("onPalette"), t.palette],
    [keysOf("onFocus"), t.focusMessage],
    ["Enter", t.send],
    ["Shift+Enter", t.newLine],
    ["Alt+Enter", t.sendAfterAnswer],
    ["↑", t.editLast],
    ["Y", t.allowFocused],
    ["N", t.declineFocused],
    [keysOf("onStop"), t.stopRun],
    [keysOf("onSidebar"), t.toggleSidebar],
    [keysOf("onWorkbench"), t.toggleWorkbench],
    [keysOf("onHelp"), t.keyboardHelp],
  ];
}
