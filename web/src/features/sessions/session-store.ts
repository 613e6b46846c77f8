/** The list of sessions: searching, paging, renaming, deleting. */

import type { SessionSummary } from "@/protocol/session";
import { Store } from "@/ui/store";

export interface SessionPage {
  sessions: SessionSummary[];
  cursor: string | null;
}

export interface SessionListBackend {
  list(query: string, cursor: string | null): Promise<SessionPage>;
  rename(id: string, title: string): Promise<void>;
  remove(id: string): Promise<void>;
}

export interface SessionListSnapshot {
  readonly sessions: readonly SessionSummary[];
  readonly query: string;
  readonly hasMore: boolean;
  readonly isLoaded: boolean;
}

export class SessionStore extends Store<SessionListSnapshot> {
  #cursor: string | null = null;
  #turn = 0;

  constructor(private readonly backend: SessionListBackend) {
    super({ sessions: [], query: "", hasMore: false, isLoaded: false });
  }

  /** Loads the first page for a query; of overlapping calls the last one wins. */
  async search(query: string): Promise<void> {
    const turn = ++this.#turn;
    this.change({ query });
    const page = await this.backend.list(query, null).catch(() => null);
    if (page !== null && turn === this.#turn) this.#take(page, []);
  }

  async refresh(): Promise<void> {
    await this.search(this.read().query);
  }

  async loadMore(): Promise<void> {
    const turn = ++this.#turn;
    const page = await this.backend.list(this.read().query, this.#cursor).catch(() => null);
    if (page !== null && turn === this.#turn) this.#take(page, this.read().sessions);
  }

  /** Shows the new name at once; the server's reply is final. */
  async rename(id: string, title: string): Promise<void> {
    const sessions = this.read().sessions.map((session) => (session.id === id ? { ...session, title } : session));
    this.change({ sessions });
    await this.backend.rename(id, title).finally(() => this.refresh());
  }

  async remove(id: string): Promise<void> {
    this.change({ sessions: this.read().sessions.filter((session) => session.id !== id) });
    await this.backend.remove(id).finally(() => this.refresh());
  }

  #take(page: SessionPage, before: readonly SessionSummary[]): void {
    this.#cursor = page.cursor;
    const known = new Set(before.map((session) => session.id));
    const sessions = [...before, ...page.sessions.filter((session) => !known.has(session.id))];
    this.change({ sessions, hasMore: page.cursor !== null, isLoaded: true });
  }
}

export type Age = "today" | "yesterday" | "thisWeek" | "earlier";

/** Sessions grouped by age, newest first, without empty groups. */
export function groupByAge(sessions: readonly SessionSummary[], now: Date): Array<[Age, SessionSummary[]]> {
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const day = 86_400_000;
  const ageOf = (time: number): Age => {
    if (time >= midnight) return "today";
    if (time >= midnight - day) return "yesterday";
    return time >= midnight - 7 * day ? "thisWeek" : "earlier";
  };
  const groups = new Map<Age, SessionSummary[]>();
  for (const session of sessions) {
    const age = ageOf(session.updatedAt);
    groups.set(age, [...(groups.get(age) ?? []), session]);
  }
  const order: Age[] = ["today", "yesterday", "thisWeek", "earlier"];
  return order.flatMap((age) => (groups.has(age) ? [[age, groups.get(age) ?? []] as [Age, SessionSummary[]]] : []));
}
