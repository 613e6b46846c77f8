import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";

const LINE =
  "pl-7 before:absolute before:top-0 before:bottom-0 before:left-[9px] before:w-px before:bg-line-strong/60 first:before:top-3.5 last:before:bottom-auto last:before:h-3.5 only:before:hidden";
const LANE = "@container min-w-0 rounded-xl border border-line py-1.5 pr-3 pl-9.5";

interface StepProps {
  /** What it is, for screen readers. */
  label: string;
  /** The state of a call, for styles and tests. */
  state?: string;
  icon: ReactNode;
  words: ReactNode;
  /** State and duration, at the right. */
  aside?: ReactNode;
  isOpen: boolean;
  /** Whether it stands in a frame next to others, not on the line. */
  isLane?: boolean;
  onToggle: () => void;
  /** Drawn below the line, also while the step is closed. */
  below?: ReactNode;
  /** The inside of the open step. */
  children?: ReactNode;
}

/** One step on the line of work: a sign, words, and what is inside. */
export function Step(props: StepProps) {
  const { label, state, icon, words, aside, isOpen, isLane = false, onToggle, below, children } = props;
  return (
    <li data-tool-state={state} className={`relative ${isLane ? LANE : LINE}`}>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for form fields */}
      <div role="group" aria-label={label}>
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={onToggle}
          className="group/step -mx-1.5 flex min-h-7 w-[calc(100%+0.75rem)] items-center gap-2 rounded-md px-1.5 py-0.5 text-left text-[13.5px] text-soft -outline-offset-2 hover:text-ink"
        >
          <span
            className={`absolute ${isLane ? "top-2.5 left-2.5" : "top-1 left-0"} flex size-5 items-center justify-center bg-page text-faint group-hover/step:text-soft`}
          >
            {icon}
          </span>
          <span className="flex min-w-0 flex-1 items-baseline gap-1.5">{words}</span>
          {aside}
          <ChevronRight
            size={14}
            aria-hidden="true"
            className={`shrink-0 text-faint transition-[transform,opacity] ${isOpen ? "rotate-90" : "opacity-0 group-hover/step:opacity-100 group-focus-visible/step:opacity-100 pointer-coarse:opacity-60"}`}
          />
        </button>
        {below}
        {isOpen ? <div className="space-y-3 pt-1 pb-3">{children}</div> : null}
      </div>
    </li>
  );
}
