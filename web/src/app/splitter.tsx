import { type KeyboardEvent, type PointerEvent, useState } from "react";
import { useText } from "@/text/text";

const KEY = "dovetail.workbench.width";
const NARROWEST = 320;
const USUAL = 460;
const STEP = 24;

/** How wide the workbench is, in pixels; kept for the next visit. */
export function useWidth(): [number, (width: number) => void] {
  const [width, setWidth] = useState(() => clamp(Number(localStorage.getItem(KEY)) || USUAL));
  const change = (wanted: number) => {
    const fitting = clamp(wanted);
    localStorage.setItem(KEY, String(fitting));
    setWidth(fitting);
  };
  return [width, change];
}

function widest(): number {
  return Math.max(NARROWEST, Math.round(innerWidth * 0.6));
}

function clamp(width: number): number {
  return Math.round(Math.min(widest(), Math.max(NARROWEST, width)));
}

/** The edge of the workbench: dragged, or moved with the arrow keys. */
export function Splitter({ width, onChange }: { width: number; onChange: (width: number) => void }) {
  const t = useText();
  const onMove = (event: PointerEvent<HTMLDivElement>) => {
    if (event.currentTarget.hasPointerCapture(event.pointerId)) onChange(innerWidth - event.clientX);
  };
  const onKey = (event: KeyboardEvent) => {
    const wanted = { ArrowLeft: width + STEP, ArrowRight: width - STEP, Home: widest(), End: NARROWEST }[event.key];
    if (wanted === undefined) return;
    event.preventDefault();
    onChange(wanted);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule cannot be moved
    <div
      role="separator"
      tabIndex={0}
      aria-label={t.resizeWorkbench}
      aria-orientation="vertical"
      aria-valuenow={width}
      aria-valuemin={NARROWEST}
      aria-valuemax={widest()}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={onMove}
      onKeyDown={onKey}
      onDoubleClick={() => onChange(USUAL)}
      className="absolute inset-y-0 -left-1 z-10 w-2 cursor-col-resize touch-none outline-none after:absolute after:inset-y-0 after:left-[3px] after:w-0.5 hover:after:bg-line-strong focus-visible:after:bg-accent max-sm:hidden"
    />
  );
}
