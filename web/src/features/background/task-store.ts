/** The background tasks of a session and what they ask, polled while one of them works. */

import type { Ask } from "@/protocol/ask";
import type { Task } from "@/protocol/task";
import { Store } from "@/ui/store";

export interface TaskSnapshot {
  readonly tasks: readonly Task[];
  /** What tasks that have not ended ask of the user. */
  readonly asks: readonly Ask[];
}

export interface TaskBackend {
  list(): Promise<Task[]>;
  /** All open asks of the user. */
  asks(): Promise<Ask[]>;
  send(runId: string, text: string): Promise<unknown>;
  cancel(runId: string): Promise<void>;
  /** Whether the page is out of sight, so that polling can wait. */
  isHidden(): boolean;
}

export class TaskStore extends Store<TaskSnapshot> {
  #timer: ReturnType<typeof setTimeout> | null = null;
  #turn = 0;

  constructor(
    private readonly backend: TaskBackend,
    private readonly interval = 3000,
  ) {
    super({ tasks: [], asks: [] });
  }

  protected override onUnread(): void {
    this.#rest();
  }

  /** Loads the tasks, and again every few seconds until all have ended; of overlapping calls the last one wins. */
  async refresh(): Promise<void> {
    this.#rest();
    const turn = ++this.#turn;
    const found = await this.#load().catch(() => null);
    if (turn !== this.#turn) return;
    // Without the server the last known state stays.
    if (found !== null) this.change(found);
    this.#later();
  }

  /** Continues to poll after the tasks were out of sight. */
  async resume(): Promise<void> {
    if (this.#timer === null && this.read().tasks.some(isActive)) await this.refresh();
  }

  /** Sends a message to a task; one that has ended continues with it. */
  async send(task: Task, text: string): Promise<void> {
    await this.backend.send(task.runId, text);
    await this.refresh();
  }

  async cancel(task: Task): Promise<void> {
    await this.backend.cancel(task.runId).finally(() => this.refresh());
  }

  async #load(): Promise<TaskSnapshot> {
    const tasks = await this.backend.list();
    const runs = new Set(tasks.filter(isActive).map((task) => task.runId));
    const asks = runs.size === 0 ? [] : await this.backend.asks();
    return { tasks, asks: asks.filter((ask) => runs.has(ask.runId) && ask.kind !== "browser") };
  }

  #later(): void {
    if (!this.isRead || !this.read().tasks.some(isActive)) return;
    this.#timer = setTimeout(() => {
      if (this.backend.isHidden()) this.#later();
      else void this.refresh();
    }, this.interval);
  }

  #rest(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}

export function isActive(task: Task): boolean {
  return task.state !== "ended";
}
