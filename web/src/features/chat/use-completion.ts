/** The list of suggestions of the field: which are shown, which one is chosen, and its keys. */

import { type KeyboardEvent, useMemo, useState } from "react";
import { type Completion, completionAt, type Suggestion } from "@/features/chat/completion";

export interface CompletionView {
  completion: Completion | null;
  choice: number;
  /** Handles the keys of the open list; returns true if one of them was pressed. */
  onKey: (event: KeyboardEvent) => boolean;
  /** What was typed has changed. */
  onTyped: () => void;
}

export function useCompletion(
  text: string,
  caret: number,
  suggestions: readonly Suggestion[],
  choose: (suggestion: Suggestion, completion: Completion) => void,
): CompletionView {
  const [choice, setChoice] = useState(0);
  const [dismissedAt, setDismissedAt] = useState<number | null>(null);
  const found = useMemo(() => completionAt(text, caret, suggestions), [text, caret, suggestions]);
  const completion = found === null || found.start === dismissedAt ? null : found;
  const onKey = (event: KeyboardEvent): boolean => {
    if (completion === null) return false;
    const { matches } = completion;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const chosen = matches[choice];
    if (step !== undefined) setChoice((choice + step + matches.length) % matches.length);
    else if (event.key === "Escape") setDismissedAt(completion.start);
    else if (chosen !== undefined && (event.key === "Tab" || event.key === "Enter") && !event.shiftKey) {
      choose(chosen, completion);
    } else return false;
    event.preventDefault();
    return true;
  };
  return {
    completion,
    choice: completion === null ? 0 : Math.min(choice, completion.matches.length - 1),
    onKey,
    onTyped: () => {
      setChoice(0);
      if (found === null) setDismissedAt(null);
    },
  };
}
