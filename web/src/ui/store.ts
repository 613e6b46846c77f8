/** A value that notifies its subscribers of changes, and the hook that reads it. */

import { useSyncExternalStore } from "react";

export class Store<T extends object> {
  #value: T;
  readonly #listeners = new Set<() => void>();

  constructor(value: T) {
    this.#value = value;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.onUnread();
    };
  };

  readonly read = (): T => this.#value;

  get isRead(): boolean {
    return this.#listeners.size > 0;
  }

  /** Called when the last subscriber has left. */
  protected onUnread(): void {}

  protected change(change: Partial<T>): void {
    this.#value = { ...this.#value, ...change };
    for (const listener of this.#listeners) listener();
  }
}

/** The current value of a store; the component renders again when it changes. */
export function useStore<T extends object>(store: Store<T>): T {
  return useSyncExternalStore(store.subscribe, store.read, store.read);
}
