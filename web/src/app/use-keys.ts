import { useLayoutEffect } from "react";
import { type Action, actionOf } from "@/app/shortcuts";

export type KeyActions = Record<Action, () => void>;

/** Makes the keyboard shortcuts work. */
export function useKeys(actions: KeyActions): void {
  // Before the page is painted, so that the keys work as soon as it is visible.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const action = actionOf(event);
      if (action === null) return;
      event.preventDefault();
      actions[action]();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [actions]);
}
