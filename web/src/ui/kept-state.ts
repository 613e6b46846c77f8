/** State of a form that lasts while its tab is open: over another place of the page, and over a reload. */

import { type Dispatch, type SetStateAction, useRef, useState } from "react";

const PREFIX = "dovetail.form.";

/** Like `useState`; null stands for nothing, and is not kept. */
export function useKeptState<T extends object>(key: string): [T | null, Dispatch<SetStateAction<T | null>>] {
  const [value, setValue] = useState<T | null>(() => read(key));
  const latest = useRef(value);
  // Written here, not when React applies the change: a form that was sent may be gone by then.
  const keep: Dispatch<SetStateAction<T | null>> = (change) => {
    latest.current = typeof change === "function" ? change(latest.current) : change;
    write(key, latest.current);
    setValue(latest.current);
  };
  return [value, keep];
}

function read<T>(key: string): T | null {
  try {
    return JSON.parse(sessionStorage.getItem(PREFIX + key) ?? "null");
  } catch {
    return null;
  }
}

function write(key: string, value: unknown): void {
  try {
    if (value === null) sessionStorage.removeItem(PREFIX + key);
    else sessionStorage.setItem(PREFIX + key, JSON.stringify(value));
  } catch {
    // The storage is full or closed: the value lasts as long as its form.
  }
}
