/** The pages that tools have opened next to the chat. */

import { Store } from "@/ui/store";

export interface StackItem {
  key: string;
  url: string;
  title: string;
}

export interface StackSnapshot {
  readonly items: readonly StackItem[];
  readonly activeKey: string | null;
}

export class PanelStack extends Store<StackSnapshot> {
  constructor() {
    super({ items: [], activeKey: null });
  }

  /** Opens a page, or brings it to the front if it is already open; returns its key. */
  push(url: string, title: string): string {
    const { items } = this.read();
    const known = items.find((item) => item.url === url);
    if (known !== undefined) {
      this.activate(known.key);
      return known.key;
    }
    const key = crypto.randomUUID();
    this.change({ items: [...items, { key, url, title }], activeKey: key });
    return key;
  }

  activate(activeKey: string): void {
    this.change({ activeKey });
  }

  close(key: string): void {
    const { items, activeKey } = this.read();
    const at = items.findIndex((item) => item.key === key);
    const left = items.filter((item) => item.key !== key);
    const next = left[Math.min(at, left.length - 1)]?.key ?? null;
    this.change({ items: left, activeKey: activeKey === key ? next : activeKey });
  }
}
