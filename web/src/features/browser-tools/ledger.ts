/** Where the executor keeps what it has begun. */

import type { Ledger, LedgerEntry } from "@/features/browser-tools/executor";

export class MemoryLedger implements Ledger {
  readonly #entries = new Map<string, LedgerEntry>();

  read(askId: string): LedgerEntry | null {
    return this.#entries.get(askId) ?? null;
  }

  write(askId: string, entry: LedgerEntry): void {
    this.#entries.set(askId, entry);
  }
}

const KEY = "dovetail.browser-tools";
const LIMIT = 200;

/** Shared by the tabs of a browser and kept across reloads; the oldest entries go first. */
export class StorageLedger implements Ledger {
  constructor(private readonly storage: Storage = localStorage) {}

  read(askId: string): LedgerEntry | null {
    return this.#load().find(([id]) => id === askId)?.[1] ?? null;
  }

  write(askId: string, entry: LedgerEntry): void {
    const others = this.#load().filter(([id]) => id !== askId);
    this.storage.setItem(KEY, JSON.stringify([...others, [askId, entry]].slice(-LIMIT)));
  }

  #load(): Array<[string, LedgerEntry]> {
    try {
      const value: unknown = JSON.parse(this.storage.getItem(KEY) ?? "[]");
      return Array.isArray(value) ? value : [];
    } catch {
      return [];
    }
  }
}
