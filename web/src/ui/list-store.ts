/** A list from the server that may change: the newest known stays if it cannot be read. */

import { Store } from "@/ui/store";

export class ListStore<Item> extends Store<{ readonly items: readonly Item[] }> {
  constructor(private readonly list: () => Promise<readonly Item[]>) {
    super({ items: [] });
  }

  readonly refresh = async (): Promise<void> => {
    const items = await this.list().catch(() => null);
    if (items !== null) this.change({ items });
  };
}
