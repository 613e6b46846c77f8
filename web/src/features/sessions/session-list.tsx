import { Search, X } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { type Acting, folderPlace, LISTED, PINNED, placeOf } from "@/features/sessions/acting";
import { FolderRow } from "@/features/sessions/folder-row";
import { type SessionActions, SessionRow } from "@/features/sessions/session-row";
import { groupByAge, type SessionStore } from "@/features/sessions/session-store";
import type { SessionSummary } from "@/protocol/session";
import { useText } from "@/text/text";
import { Button, IconButton } from "@/ui/button";
import { useStore } from "@/ui/store";

interface SessionListProps extends SessionActions {
  store: SessionStore;
  openId: string | null;
  /** The chats that wait for the user. */
  waitingIds: ReadonlySet<string>;
}

/** The chats: pinned ones, folders, and the others by age; during a search, what was found and where. */
export function SessionList({ store, openId, waitingIds, ...actions }: SessionListProps) {
  const t = useText();
  const list = useStore(store);
  const { sessions, pinned, folders, query, hasMore, isLoaded } = list;
  const [acting, setActing] = useState<Acting | null>(null);
  const actingPlace = placeOf(acting, list);
  const rows = (place: string, members: readonly SessionSummary[]) =>
    members.map((session) => (
      <SessionRow
        key={session.id}
        session={session}
        store={store}
        isOpen={session.id === openId}
        isWaiting={waitingIds.has(session.id)}
        actions={actions}
        acting={place === actingPlace && session.id === acting?.id ? acting : null}
        onAct={(change) => setActing(change === null ? null : { ...change, id: session.id, place })}
      />
    ));
  const isEmpty = isLoaded && sessions.length + pinned.length + folders.length === 0;
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <SearchField store={store} />
      <nav aria-label={t.conversation} className="min-h-0 flex-1 overflow-y-auto px-2 pb-3">
        {pinned.length === 0 ? null : <Group title={t.pinned}>{rows(PINNED, pinned)}</Group>}
        {folders.length === 0 ? null : (
          <Group title={t.folders}>
            {folders.map((folder) => (
              <FolderRow key={folder.name} folder={folder} store={store}>
                {folder.sessions === null ? null : rows(folderPlace(folder.name), folder.sessions)}
              </FolderRow>
            ))}
          </Group>
        )}
        {query === "" ? (
          groupByAge(sessions, new Date()).map(([age, members]) => (
            <Group key={age} title={t[age]}>
              {rows(LISTED, members)}
            </Group>
          ))
        ) : (
          <ul className="pt-2">{rows(LISTED, sessions)}</ul>
        )}
        {isEmpty ? (
          <p className="px-2.5 pt-4 text-[13px] text-faint">{query === "" ? t.noSessions : t.noMatches}</p>
        ) : null}
        {hasMore ? (
          <Button look="plain" className="mt-2 w-full" onClick={() => void store.loadMore()}>
            {t.loadMore}
          </Button>
        ) : null}
      </nav>
    </div>
  );
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h2 className="px-2.5 pt-4 pb-1 text-[12px] font-medium text-faint">{title}</h2>
      <ul>{children}</ul>
    </section>
  );
}

function SearchField({ store }: { store: SessionStore }) {
  const t = useText();
  const [query, setQuery] = useState(() => store.read().query);
  useEffect(() => {
    if (query === store.read().query) return;
    const timer = setTimeout(() => void store.search(query), 150);
    return () => clearTimeout(timer);
  }, [query, store]);
  return (
    <div className="mx-2 flex h-9 items-center rounded-lg pl-2.5 text-soft ring-line focus-within:bg-surface focus-within:ring-1 hover:bg-raised focus-within:hover:bg-surface">
      <label className="flex min-w-0 flex-1 items-center gap-2">
        <Search size={15} aria-hidden="true" className="shrink-0" />
        <span className="sr-only">{t.search}</span>
        <input
          type="search"
          value={query}
          onChange={(event) => setQuery(event.target.value)}
          placeholder={t.search}
          className="w-full bg-transparent text-[13px] text-ink placeholder:text-soft [&::-webkit-search-cancel-button]:hidden"
        />
      </label>
      {query === "" ? null : (
        <IconButton label={t.clearSearch} className="size-7" onClick={() => setQuery("")}>
          <X size={14} />
        </IconButton>
      )}
    </div>
  );
}
