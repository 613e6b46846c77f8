/** Work that a button starts: whether it is under way, and why it failed. */

import { useState } from "react";

export interface Attempt {
  isBusy: boolean;
  error: unknown;
  /** Does the work; an error is kept until the next attempt. */
  run: (work: () => Promise<void>) => Promise<void>;
}

export function useAttempt(): Attempt {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const run = async (work: () => Promise<void>) => {
    setBusy(true);
    setError(null);
    try {
      await work();
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, error, run };
}
