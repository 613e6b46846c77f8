/** One reaction to several events that come together. */

/** Returns a function that calls `act` a moment after its first call, and once for all calls until then. */
export function gather(act: () => void, delay = 120): () => void {
  let isDue = false;
  return () => {
    if (isDue) return;
    isDue = true;
    setTimeout(() => {
      isDue = false;
      act();
    }, delay);
  };
}
