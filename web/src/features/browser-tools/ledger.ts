/** Which browser tool calls have begun and how they ended: shared between tabs and kept across reloads. */

export interface Acknowledgement {
  status: "success" | "failed";
  output?: unknown;
  errorText?: string;
}

export type LedgerEntry = { state: "begun" } | { state: "done"; acknowledgement: Acknowledgement };

const KEY = "dovetail.browser-tools";
/** The oldest entries beyond this number are dropped. */
const LIMIT = 200;

export class Ledger {
  constructor(private readonly storage: Pick<Storage, "getItem" | "setItem"> = localStorage) {}

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
