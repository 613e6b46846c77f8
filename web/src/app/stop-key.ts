/** Escape stops an answer only when it is pressed twice: one key must not throw away the work of a run. */

import { useCallback, useEffect, useRef, useState } from "react";

/** Milliseconds in which the second press counts, and the hint is shown. */
const TIME_TO_CONFIRM = 4000;

interface StopKey {
  /** What Escape does. */
  onEscape: () => void;
  /** Whether another press would stop the answer. */
  isArmed: boolean;
}

/** What Escape means: close what is open next to the chat, then ask, then stop. */
export function nextStep(isPanelOpen: boolean, isBusy: boolean, isArmed: boolean): "close" | "ask" | "stop" | "none" {
  if (isPanelOpen) return "close";
  if (!isBusy) return "none";
  return isArmed ? "stop" : "ask";
}

export function useStopKey(
  session: { isBusy: boolean; stop: () => unknown },
  closePanel: (() => void) | null,
): StopKey {
  const [isArmed, setArmed] = useState(false);
  const last = useRef({ session, closePanel, isArmed });
  last.current = { session, closePanel, isArmed };
  // biome-ignore lint/correctness/useExhaustiveDependencies: in another chat the first press is the first
  useEffect(() => setArmed(false), [session]);
  useEffect(() => {
    if (!isArmed) return;
    const timer = setTimeout(() => setArmed(false), TIME_TO_CONFIRM);
    return () => clearTimeout(timer);
  }, [isArmed]);
  const onEscape = useCallback(() => {
    const { session, closePanel, isArmed } = last.current;
    const step = nextStep(closePanel !== null, session.isBusy, isArmed);
    if (step === "close") closePanel?.();
    if (step === "stop") session.stop();
    setArmed(step === "ask");
  }, []);
  return { onEscape, isArmed };
}
