/** A list from the server that may change: the newest known stays if it cannot be read. */

import { Store } from "@/ui/store";

export class ListStore<Item> extends Store<{ readonly items: readonly Item[] }> {
  constructor(private readonly list: () => Promise<readonly Item[]>) {
    super({ items: [] });
  }

  #reading: Promise<void> | null = null;

  readonly refresh = (): Promise<void> => {
    this.#reading = this.#read();
    return this.#reading;
  };

  /** The items as soon as they were read once, or could not be. */
  async whenRead(): Promise<readonly Item[]> {
    await (this.#reading ?? this.refresh());
    return this.read().items;
  }

  async #read(): Promise<void> {
    const items = await this.list().catch(() => null);
    if (items !== null) this.change({ items });
  }
}
