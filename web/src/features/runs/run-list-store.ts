/** The list of runs: a filter, its pages so far, and its totals; kept up to date while it is on screen. */

import type { ListedRun, RunPage, RunQuery, RunTotals } from "@/protocol/listed-run";
import { Store } from "@/ui/store";

export const PAGE = 50;
/** The most runs that are read again at once. */
const MOST = 200;

export interface RunListState {
  /** Null until the first page is there. */
  runs: readonly ListedRun[] | null;
  totals: RunTotals | null;
  hasMore: boolean;
  isLoading: boolean;
  error: Error | null;
}

export interface RunBackend {
  list: (query: RunQuery, limit: number, cursor: string | null) => Promise<RunPage>;
  cancel: (id: string) => Promise<void>;
}

export class RunListStore extends Store<RunListState> {
  #cursor: string | null = null;
  /** Counts changes of what is shown: an older answer is dropped. */
  #generation = 0;

  constructor(
    private readonly query: () => RunQuery,
    private readonly backend: RunBackend,
  ) {
    super({ runs: null, totals: null, hasMore: false, isLoading: false, error: null });
  }

  /** Reads again what is shown. */
  async refresh(): Promise<void> {
    const shown = this.read().runs?.length ?? 0;
    await this.#read(Math.min(MOST, Math.max(PAGE, shown)), null, []);
  }

  /** Reads the next page. */
  async more(): Promise<void> {
    if (this.#cursor === null || this.read().isLoading) return;
    await this.#read(PAGE, this.#cursor, this.read().runs ?? []);
  }

  async cancel(id: string): Promise<void> {
    await this.backend.cancel(id);
    await this.refresh();
  }

  async #read(limit: number, cursor: string | null, before: readonly ListedRun[]): Promise<void> {
    const generation = ++this.#generation;
    this.change({ isLoading: true });
    try {
      const page = await this.backend.list(this.query(), limit, cursor);
      if (generation !== this.#generation) return;
      this.#cursor = page.cursor;
      const known = new Set(before.map(({ id }) => id));
      const runs = [...before, ...page.runs.filter(({ id }) => !known.has(id))];
      this.change({ runs, totals: page.totals, hasMore: page.cursor !== null, isLoading: false, error: null });
    } catch (error) {
      if (generation === this.#generation) this.change({ isLoading: false, error: error as Error });
    }
  }
}
