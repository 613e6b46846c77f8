/** The list of sessions: searching, paging, pins and folders, renaming, deleting. */

import type { Folder, SessionQuery, SessionSummary } from "@/protocol/session";
import { Store } from "@/ui/store";

export interface SessionPage {
  sessions: SessionSummary[];
  cursor: string | null;
}

export interface SessionListBackend {
  list(wanted: SessionQuery): Promise<SessionPage>;
  folders(): Promise<Folder[]>;
  rename(id: string, title: string): Promise<void>;
  remove(id: string): Promise<void>;
  file(id: string, change: { pinned?: boolean; folder?: string | null }): Promise<void>;
  changeFolder(name: string, newName: string | null): Promise<void>;
}

/** A folder; its sessions are loaded when it is opened. */
export interface OpenFolder extends Folder {
  readonly sessions: readonly SessionSummary[] | null;
}

export interface SessionListSnapshot {
  /** Those that are neither pinned nor in a folder; during a search all that were found. */
  readonly sessions: readonly SessionSummary[];
  readonly pinned: readonly SessionSummary[];
  readonly folders: readonly OpenFolder[];
  readonly query: string;
  readonly hasMore: boolean;
  readonly isLoaded: boolean;
}

export class SessionStore extends Store<SessionListSnapshot> {
  #cursor: string | null = null;
  #turn = 0;
  readonly #open = new Set<string>();

  constructor(private readonly backend: SessionListBackend) {
    super({ sessions: [], pinned: [], folders: [], query: "", hasMore: false, isLoaded: false });
  }

  /** Every session that is shown, once. */
  get all(): SessionSummary[] {
    const { sessions, pinned, folders } = this.read();
    const all = [...pinned, ...folders.flatMap((folder) => folder.sessions ?? []), ...sessions];
    return [...new Map(all.map((session) => [session.id, session])).values()];
  }

  /** Loads the first page for a query; of overlapping calls the last one wins. */
  async search(query: string): Promise<void> {
    const turn = ++this.#turn;
    this.change({ query });
    const isSearch = query !== "";
    const found = await Promise.all([
      this.backend.list(isSearch ? { query } : { isPinned: false, folder: "" }),
      isSearch ? [] : this.backend.list({ isPinned: true }).then((page) => page.sessions),
      isSearch ? [] : this.#loadFolders(),
    ]).catch(() => null);
    if (found === null || turn !== this.#turn) return;
    const [page, pinned, folders] = found;
    this.change({ pinned, folders });
    this.#take(page, []);
  }

  async refresh(): Promise<void> {
    await this.search(this.read().query);
  }

  async loadMore(): Promise<void> {
    const turn = ++this.#turn;
    const { query } = this.read();
    const wanted = query === "" ? { isPinned: false, folder: "" } : { query };
    const page = await this.backend.list({ ...wanted, cursor: this.#cursor }).catch(() => null);
    if (page !== null && turn === this.#turn) this.#take(page, this.read().sessions);
  }

  /** Shows the new name at once; the server's reply is final. */
  async rename(id: string, title: string): Promise<void> {
    this.#edit((session) => (session.id === id ? { ...session, title } : session));
    await this.backend.rename(id, title).finally(() => this.refresh());
  }

  async remove(id: string): Promise<void> {
    this.#edit((session) => (session.id === id ? null : session));
    await this.backend.remove(id).finally(() => this.refresh());
  }

  async pin(id: string, isPinned: boolean): Promise<void> {
    await this.backend.file(id, { pinned: isPinned }).finally(() => this.refresh());
  }

  /** Puts a session into a folder, which is opened; null: into none. */
  async move(id: string, folder: string | null): Promise<void> {
    if (folder !== null) this.#open.add(folder);
    await this.backend.file(id, { folder }).finally(() => this.refresh());
  }

  async changeFolder(name: string, newName: string | null): Promise<void> {
    if (newName !== null && this.#open.delete(name)) this.#open.add(newName);
    await this.backend.changeFolder(name, newName).finally(() => this.refresh());
  }

  /** Opens or closes a folder. */
  async toggle(name: string): Promise<void> {
    if (!this.#open.delete(name)) this.#open.add(name);
    const folders = await this.#loadFolders().catch(() => null);
    if (folders !== null) this.change({ folders });
  }

  async #loadFolders(): Promise<OpenFolder[]> {
    const folders = await this.backend.folders();
    return Promise.all(
      folders.map(async (folder) => {
        const isOpen = this.#open.has(folder.name);
        const page = isOpen ? await this.backend.list({ folder: folder.name }) : null;
        return { ...folder, sessions: page?.sessions ?? null };
      }),
    );
  }

  #edit(change: (session: SessionSummary) => SessionSummary | null): void {
    const edit = (sessions: readonly SessionSummary[]) => sessions.map(change).filter((session) => session !== null);
    const { sessions, pinned, folders } = this.read();
    this.change({
      sessions: edit(sessions),
      pinned: edit(pinned),
      folders: folders.map((folder) => ({ ...folder, sessions: folder.sessions && edit(folder.sessions) })),
    });
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
