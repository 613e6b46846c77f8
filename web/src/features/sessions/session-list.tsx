import { Search } from "lucide-react";
import { useEffect, useState } from "react";
import { SessionRow } from "@/features/sessions/session-row";
import { groupByAge, type SessionStore } from "@/features/sessions/session-store";
import { useText } from "@/text/text";
import { Button } from "@/ui/button";
import { useStore } from "@/ui/store";

interface SessionListProps {
  store: SessionStore;
  openId: string | null;
  onOpen: (id: string) => void;
  onRemoved: (id: string) => void;
  exportAddress: (id: string, format: "json" | "markdown") => string;
}

export function SessionList({ store, openId, onOpen, onRemoved, exportAddress }: SessionListProps) {
  const t = useText();
  const { sessions, query, hasMore, isLoaded } = useStore(store);
  useEffect(() => void store.refresh(), [store]);
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <SearchField store={store} />
      <nav aria-label={t.conversation} className="min-h-0 flex-1 overflow-y-auto px-2 pb-3">
        {groupByAge(sessions, new Date()).map(([age, members]) => (
          <section key={age} aria-label={t[age]}>
            <h2 className="px-2.5 pt-4 pb-1 text-[12px] font-medium text-faint">{t[age]}</h2>
            <ul>
              {members.map((session) => (
                <SessionRow
                  key={session.id}
                  session={session}
                  isOpen={session.id === openId}
                  onOpen={() => onOpen(session.id)}
                  onRename={(title) => void store.rename(session.id, title)}
                  onRemove={() => void store.remove(session.id).then(() => onRemoved(session.id))}
                  exportAddress={(format) => exportAddress(session.id, format)}
                />
              ))}
            </ul>
          </section>
        ))}
        {isLoaded && sessions.length === 0 ? (
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

function SearchField({ store }: { store: SessionStore }) {
  const t = useText();
  const [query, setQuery] = useState(() => store.read().query);
  useEffect(() => {
    if (query === store.read().query) return;
    const timer = setTimeout(() => void store.search(query), 150);
    return () => clearTimeout(timer);
  }, [query, store]);
  return (
    <label className="mx-2 flex h-9 items-center gap-2 rounded-lg px-2.5 text-soft ring-line focus-within:bg-surface focus-within:ring-1 hover:bg-raised focus-within:hover:bg-surface">
      <Search size={15} aria-hidden="true" className="shrink-0" />
      <span className="sr-only">{t.search}</span>
      <input
        type="search"
        value={query}
        onChange={(event) => setQuery(event.target.value)}
        placeholder={t.search}
        className="w-full bg-transparent text-[13px] text-ink placeholder:text-soft"
      />
    </label>
  );
}
