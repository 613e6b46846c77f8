/** The server's models, polled while one is being downloaded. */

import type { ModelInfo } from "@/protocol/model";
import { Store } from "@/ui/store";

export interface ModelSnapshot {
  readonly models: readonly ModelInfo[];
  readonly isKnown: boolean;
}

export class ModelStore extends Store<ModelSnapshot> {
  #timer: ReturnType<typeof setTimeout> | null = null;
  #newest = 0;

  constructor(
    private readonly load: () => Promise<ModelInfo[]>,
    private readonly interval = 1000,
  ) {
    super({ models: [], isKnown: false });
  }

  protected override onUnread(): void {
    this.#rest();
  }

  /** Polls until no download is in progress; an answer that a newer one has overtaken is dropped. */
  async refresh(): Promise<void> {
    this.#rest();
    this.#newest += 1;
    const number = this.#newest;
    try {
      const models = await this.load();
      if (number === this.#newest) this.change({ models, isKnown: true });
    } catch {
      // The chat reports an unreachable server; here the last known state stays.
    }
    if (number !== this.#newest) return;
    const isArriving = this.read().models.some((model) => model.state === "downloading");
    if (isArriving && this.isRead) this.#timer = setTimeout(() => void this.refresh(), this.interval);
  }

  #rest(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}

/** The model that is used if none is chosen. */
export function activeModel(models: readonly ModelInfo[]): ModelInfo | null {
  return models.find((model) => model.active) ?? models.find((model) => model.state === "ready") ?? null;
}
