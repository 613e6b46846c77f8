/** The pages that tools have opened beside the chat. */

export interface StackItem {
  key: string;
  url: string;
  title: string;
}

export interface StackSnapshot {
  readonly items: readonly StackItem[];
  readonly activeKey: string | null;
}

export class PanelStack {
  #snapshot: StackSnapshot = { items: [], activeKey: null };
  readonly #listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly read = (): StackSnapshot => this.#snapshot;

  /** Opens a page, or brings it to the front when it is open already; returns its key. */
  push(url: string, title: string): string {
    const known = this.#snapshot.items.find((item) => item.url === url);
    if (known !== undefined) {
      this.#set(this.#snapshot.items, known.key);
      return known.key;
    }
    const key = crypto.randomUUID();
    this.#set([...this.#snapshot.items, { key, url, title }], key);
    return key;
  }

  activate(key: string): void {
    this.#set(this.#snapshot.items, key);
  }

  close(key: string): void {
    const at = this.#snapshot.items.findIndex((item) => item.key === key);
    const items = this.#snapshot.items.filter((item) => item.key !== key);
    const isActive = this.#snapshot.activeKey === key;
    this.#set(items, isActive ? (items[Math.min(at, items.length - 1)]?.key ?? null) : this.#snapshot.activeKey);
  }

  clear(): void {
    this.#set([], null);
  }

  #set(items: readonly StackItem[], activeKey: string | null): void {
    this.#snapshot = { items, activeKey };
    for (const listener of this.#listeners) listener();
  }
}
