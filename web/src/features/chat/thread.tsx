import { ArrowDown } from "lucide-react";
import { type ReactNode, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { aimAt, keepPlace, pointOut, returnToPlace } from "@/features/chat/reading-place";
import { useEdges } from "@/features/chat/use-edges";
import { useText } from "@/text/text";
import { Button } from "@/ui/button";

export interface ThreadProps {
  /** The chat whose scroll position is remembered. */
  chatId: string;
  /** The place of the newest question in the chat; a new one of the same branch scrolls to the end. */
  questions: number;
  /** Changes with the branch that is shown. */
  branch: number;
  /** The message to show, once it is there. */
  target: string | null;
  /** The first message that is rendered. */
  first: string | null;
  hasOlder: boolean;
  hasNewer: boolean;
  onOlder: () => Promise<void>;
  onNewer: () => void;
  /** Renders the end of the chat instead of what is shown. */
  onNewest: () => void;
  children: ReactNode;
}

interface Click {
  target: Element;
  at: number;
}

/** How long what a click unfolds may take to appear, in milliseconds. */
const UNFOLDING = 1000;

/** What the reader is busy with: the field that has the focus, or what was clicked just now. */
function busyWith(column: HTMLElement, clicked: Click | null): Element | null {
  const focused = document.activeElement;
  if (focused?.matches("input, textarea, select") && column.contains(focused)) return focused;
  const isFresh = clicked !== null && performance.now() - clicked.at < UNFOLDING;
  return isFresh && column.contains(clicked.target) ? clicked.target : null;
}

/** The scrolling column: follows the newest text unless the reader has scrolled away from it. */
export function Thread(props: ThreadProps) {
  const { chatId, questions, branch, target, hasOlder, hasNewer, onOlder, onNewest, children } = props;
  const t = useText();
  const frame = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const isPinned = useRef(true);
  const lastTop = useRef(0);
  const clicked = useRef<Click | null>(null);
  const [isAway, setAway] = useState(false);
  const known = useRef({ questions, branch });
  /** Whether the position is being restored: messages take their real height only when they become visible. */
  const isReturning = useRef(false);
  const look = useEdges(frame, props);

  const toEnd = useCallback((behavior: ScrollBehavior = "instant") => {
    isPinned.current = true;
    isReturning.current = false;
    frame.current?.scrollTo({ top: frame.current.scrollHeight, behavior });
  }, []);

  /** Stays where the reader is busy if the way to the end would take it out of sight; returns whether it does. */
  const holdsBack = useCallback(() => {
    const column = frame.current;
    const busy = column === null ? null : busyWith(column, clicked.current);
    if (column === null || busy === null) return false;
    const way = column.scrollHeight - column.clientHeight - column.scrollTop;
    const top = busy.getBoundingClientRect().top - column.getBoundingClientRect().top;
    if (top >= way) return false;
    isPinned.current = false;
    setAway(true);
    busy.scrollIntoView({ block: "nearest" });
    return true;
  }, []);

  useEffect(() => {
    if (content.current === null) return;
    const observer = new ResizeObserver(() => {
      if (isPinned.current && !holdsBack()) toEnd();
      else if (isReturning.current && frame.current !== null) returnToPlace(chatId, frame.current);
      look();
    });
    observer.observe(content.current);
    return () => observer.disconnect();
  }, [chatId, toEnd, look, holdsBack]);

  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return;
    if (returnToPlace(chatId, element)) {
      isPinned.current = false;
      isReturning.current = true;
      setAway(true);
    } else toEnd();
    const leave = new AbortController();
    const stay = () => {
      isReturning.current = false;
    };
    const note = ({ target }: MouseEvent) => {
      clicked.current = target instanceof Element ? { target, at: performance.now() } : null;
    };
    element.addEventListener("click", note, { capture: true, signal: leave.signal });
    for (const name of ["wheel", "pointerdown", "keydown"]) {
      element.addEventListener(name, stay, { passive: true, signal: leave.signal });
    }
    return () => {
      leave.abort();
      keepPlace(chatId, element, isPinned.current);
    };
  }, [chatId, toEnd]);

  useLayoutEffect(() => {
    const element = frame.current;
    if (target === null || element === null) return;
    aimAt(chatId, target);
    if (!returnToPlace(chatId, element)) return;
    isPinned.current = false;
    isReturning.current = true;
    setAway(true);
    pointOut(element, target);
  }, [chatId, target]);

  const toNewest = (behavior: ScrollBehavior) => {
    if (hasNewer) onNewest();
    toEnd(hasNewer ? "instant" : behavior);
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new question leads to the end
  useEffect(() => {
    if (branch === known.current.branch && questions > known.current.questions) {
      clicked.current = null;
      toNewest("instant");
    }
    known.current = { questions, branch };
  }, [questions, branch]);

  const onScroll = () => {
    const element = frame.current;
    if (element === null) return;
    const isAtEnd = !hasNewer && element.scrollHeight - element.scrollTop - element.clientHeight < 48;
    // Only scrolling up leaves the end: growing text also moves the end away.
    if (isAtEnd) isPinned.current = true;
    else if (element.scrollTop < lastTop.current) isPinned.current = false;
    lastTop.current = element.scrollTop;
    setAway(!isPinned.current);
    look();
  };
  return (
    <div className="relative min-h-0 flex-1">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the column scrolls and must be reachable by keyboard */}
      <div ref={frame} onScroll={onScroll} tabIndex={0} className="h-full overflow-y-auto -outline-offset-2">
        <div ref={content} className="mx-auto w-full max-w-180 px-4 pt-6 pb-10">
          {hasOlder ? (
            <p className="pb-4 text-center">
              <Button look="plain" onClick={() => void onOlder().catch(() => undefined)}>
                {t.showOlder}
              </Button>
            </p>
          ) : null}
          {children}
        </div>
      </div>
      <div className="pointer-events-none absolute inset-x-0 top-0 h-5 bg-linear-to-b from-page" />
      <div className="pointer-events-none absolute inset-x-0 bottom-0 h-7 bg-linear-to-t from-page" />
      {isAway ? (
        <button
          type="button"
          aria-label={t.toNewest}
          title={t.toNewest}
          onClick={() => toNewest("smooth")}
          className="absolute bottom-3 left-1/2 flex size-8 -translate-x-1/2 items-center justify-center rounded-full border border-line bg-surface text-soft shadow-float hover:text-ink"
        >
          <ArrowDown size={16} aria-hidden="true" />
        </button>
      ) : null}
    </div>
  );
}
