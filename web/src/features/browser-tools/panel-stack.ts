/** The pages that tools have opened next to the chat; they are kept across reloads of the tab. */

import { isRecord, optionalText } from "@/protocol/shapes";
import { Store } from "@/ui/store";

export interface StackItem {
  key: string;
  url: string;
  title: string;
  /** Whether the site lets itself be shown here; null until that is known. */
  isShown: boolean | null;
}

export interface StackSnapshot {
  readonly items: readonly StackItem[];
  readonly activeKey: string | null;
  /** How many times a page was opened, so that it is brought to the front each time. */
  readonly opened: number;
}

const KEY = "dovetail.pages";
const MOST_KEPT = 20;

export class PanelStack extends Store<StackSnapshot> {
  readonly #canBeFramed: (url: string) => Promise<boolean>;
  readonly #storage: Pick<Storage, "getItem" | "setItem">;
  readonly #checks = new Map<string, Promise<boolean>>();

  constructor(
    canBeFramed: (url: string) => Promise<boolean> = async () => true,
    storage: Pick<Storage, "getItem" | "setItem"> = { getItem: () => null, setItem: () => undefined },
  ) {
    super(restore(storage.getItem(KEY)));
    this.#canBeFramed = canBeFramed;
    this.#storage = storage;
    for (const { key } of this.read().items) void this.check(key);
  }

  /** Opens a page, or brings it to the front if it is already open; returns its key. */
  push(url: string, title: string): string {
    const { items, opened } = this.read();
    const known = items.find((item) => item.url === url);
    const key = known?.key ?? crypto.randomUUID();
    this.#keep(known === undefined ? [...items, { key, url, title, isShown: null }] : items, key);
    this.change({ opened: opened + 1 });
    void this.check(key);
    return key;
  }

  /** Finds out, once, whether the site lets itself be shown here. */
  check(key: string): Promise<boolean> {
    const known = this.#checks.get(key) ?? this.#check(key);
    this.#checks.set(key, known);
    return known;
  }

  async #check(key: string): Promise<boolean> {
    const item = this.read().items.find((one) => one.key === key);
    const isShown = item !== undefined && (await this.#canBeFramed(item.url));
    this.change({ items: this.read().items.map((one) => (one.key === key ? { ...one, isShown } : one)) });
    return isShown;
  }

  activate(activeKey: string): void {
    this.#keep(this.read().items, activeKey);
  }

  close(key: string): void {
    const { items, activeKey } = this.read();
    const at = items.findIndex((item) => item.key === key);
    const left = items.filter((item) => item.key !== key);
    const next = left[Math.min(at, left.length - 1)]?.key ?? null;
    this.#keep(left, activeKey === key ? next : activeKey);
  }

  #keep(items: readonly StackItem[], activeKey: string | null): void {
    this.change({ items, activeKey });
    const kept = items.slice(-MOST_KEPT).map(({ key, url, title }) => ({ key, url, title }));
    this.#storage.setItem(KEY, JSON.stringify({ items: kept, activeKey }));
  }
}

function restore(stored: string | null): StackSnapshot {
  try {
    const value: unknown = JSON.parse(stored ?? "null");
    const found = isRecord(value) && Array.isArray(value["items"]) ? value["items"].filter(isRecord) : [];
    const items = found.flatMap(({ key, url, title }) =>
      typeof key === "string" && typeof url === "string" && typeof title === "string"
        ? [{ key, url, title, isShown: null }]
        : [],
    );
    const activeKey = isRecord(value) ? optionalText(value["activeKey"]) : null;
    return {
      items,
      activeKey: items.some(({ key }) => key === activeKey) ? activeKey : (items.at(-1)?.key ?? null),
      opened: 0,
    };
  } catch {
    return { items: [], activeKey: null, opened: 0 };
  }
}
