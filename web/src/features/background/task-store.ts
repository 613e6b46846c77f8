/** The background tasks of a session and what they ask. */

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
}

export class TaskStore extends Store<TaskSnapshot> {
  #turn = 0;
  #loading: Promise<TaskSnapshot | null> = Promise.resolve(null);

  constructor(private readonly backend: TaskBackend) {
    super({ tasks: [], asks: [] });
  }

  /** Loads the tasks; of overlapping calls the last one wins. */
  async refresh(): Promise<void> {
    const turn = ++this.#turn;
    this.#loading = this.#load().catch(() => null);
    const found = await this.#loading;
    // Without the server the last known state stays.
    if (found !== null && turn === this.#turn) this.change(found);
  }

  /** Takes the news that a session has changed: loads the tasks again if it is one, also one that is just being loaded. */
  async hear(sessionId: string): Promise<void> {
    if (!this.has(sessionId)) await this.#loading;
    if (this.has(sessionId)) await this.refresh();
  }

  /** Whether a session is one of the tasks. */
  has(sessionId: string): boolean {
    return this.read().tasks.some((task) => task.sessionId === sessionId);
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
    const asks = tasks.length === 0 ? [] : await this.backend.asks();
    const isOurs = (ask: Ask) => tasks.some((task) => isAskedBy(ask, task));
    return { tasks, asks: asks.filter((ask) => ask.kind !== "browser" && isOurs(ask)) };
  }
}

/** Whether a task that works, or one that it has started in its own background, asks this. */
export function isAskedBy(ask: Ask, task: Task): boolean {
  return (isActive(task) && ask.runId === task.runId) || (ask.ancestors ?? []).includes(task.sessionId);
}

export function isActive(task: Task): boolean {
  return task.state !== "ended";
}
