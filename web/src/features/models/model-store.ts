/** Which models there are; asked again while one is on its way. */

import type { ModelInfo } from "@/protocol/model";

export interface ModelSnapshot {
  readonly models: readonly ModelInfo[];
  readonly isKnown: boolean;
}

export class ModelStore {
  #snapshot: ModelSnapshot = { models: [], isKnown: false };
  #timer: ReturnType<typeof setTimeout> | null = null;
  readonly #listeners = new Set<() => void>();

  constructor(
    private readonly load: () => Promise<ModelInfo[]>,
    private readonly interval = 1000,
  ) {}

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#rest();
    };
  };

  readonly read = (): ModelSnapshot => this.#snapshot;

  /** Asks now, and again until no download is under way. */
  async refresh(): Promise<void> {
    this.#rest();
    try {
      this.#snapshot = { models: await this.load(), isKnown: true };
      for (const listener of this.#listeners) listener();
    } catch {
      // The chat itself tells when the server is gone; here the last known state stays.
    }
    const isArriving = this.#snapshot.models.some((model) => model.state === "downloading");
    if (isArriving && this.#listeners.size > 0) this.#timer = setTimeout(() => void this.refresh(), this.interval);
  }

  #rest(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}

/** The model that answers when none is chosen. */
export function activeModel(models: readonly ModelInfo[]): ModelInfo | null {
  return models.find((model) => model.active) ?? models.find((model) => model.state === "ready") ?? null;
}
