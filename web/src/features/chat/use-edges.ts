import { type RefObject, useCallback, useLayoutEffect, useRef } from "react";

interface Edges {
  /** The first message that is rendered. */
  first: string | null;
  hasOlder: boolean;
  hasNewer: boolean;
  onOlder: () => Promise<void>;
  onNewer: () => void;
}

/**
 * Renders more when the reader comes near an edge of the column, and keeps what is in sight in its place. Returns
 * what to call when the column was scrolled or has changed its size.
 */
export function useEdges(frame: RefObject<HTMLElement | null>, edges: Edges): () => void {
  const { first } = edges;
  const latest = useRef(edges);
  const isLoading = useRef(false);
  /** Where the first message was, before others came in front of it. */
  const mark = useRef<{ id: string; top: number } | null>(null);
  useLayoutEffect(() => {
    latest.current = edges;
  });

  const look = useCallback(() => {
    const element = frame.current;
    if (element === null) return;
    const { first, hasOlder, hasNewer, onOlder, onNewer } = latest.current;
    mark.current = { id: first ?? "", top: topOf(element, first ?? "") ?? 0 };
    if (hasOlder && !isLoading.current && element.scrollTop < element.clientHeight) {
      isLoading.current = true;
      const done = () => {
        isLoading.current = false;
      };
      onOlder().then(done, done);
    }
    if (hasNewer && element.scrollHeight - element.scrollTop < 2 * element.clientHeight) onNewer();
  }, [frame]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: messages were put in front if another one is the first
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null || mark.current === null) return;
    const top = topOf(element, mark.current.id);
    if (top !== null) element.scrollTop += top - mark.current.top;
  }, [frame, first]);
  return look;
}

/** Pixels from the top of the window to a message. */
function topOf(frame: HTMLElement, messageId: string): number | null {
  return frame.querySelector(`[data-message="${CSS.escape(messageId)}"]`)?.getBoundingClientRect().top ?? null;
}
