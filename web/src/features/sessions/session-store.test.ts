import { expect, test } from "vitest";
import { groupByAge, type SessionPage, SessionStore } from "@/features/sessions/session-store";
import type { Folder, SessionQuery, SessionSummary } from "@/protocol/session";

function session(id: string, updatedAt = 0): SessionSummary {
  return { id, title: id, updatedAt, isRunning: false, origin: null, isPinned: false, folder: null, places: [] };
}

/** A list whose replies the test releases one by one. */
class HeldBackend {
  readonly waiting: Array<{ query: string; answer: (page: SessionPage) => void }> = [];
  async folders(): Promise<Folder[]> {
    return [];
  }
  async file(): Promise<void> {}
  async changeFolder(): Promise<void> {}
  list({ query = "", isPinned }: SessionQuery): Promise<SessionPage> {
    if (isPinned) return Promise.resolve({ sessions: [], cursor: null });
    return new Promise((answer) => this.waiting.push({ query, answer }));
  }
  async rename(): Promise<void> {}
  async remove(): Promise<void> {}
}

test("a reply that arrives after a newer search is dropped", async () => {
  const backend = new HeldBackend();
  const store = new SessionStore(backend);
  const searches = [store.search("a"), store.search("ab")];
  backend.waiting[1]?.answer({ sessions: [session("new")], cursor: null });
  backend.waiting[0]?.answer({ sessions: [session("old")], cursor: null });
  await Promise.all(searches);
  expect(store.read().sessions.map((one) => one.id)).toEqual(["new"]);
});

test("another page is added without duplicates", async () => {
  const backend = new HeldBackend();
  const store = new SessionStore(backend);
  const first = store.search("");
  backend.waiting[0]?.answer({ sessions: [session("a"), session("b")], cursor: "2" });
  await first;
  expect(store.read().hasMore).toBe(true);
  const second = store.loadMore();
  backend.waiting[1]?.answer({ sessions: [session("b"), session("c")], cursor: null });
  await second;
  expect(store.read().sessions.map((one) => one.id)).toEqual(["a", "b", "c"]);
  expect(store.read().hasMore).toBe(false);
});

test("sessions are grouped by calendar day", () => {
  const now = new Date(2026, 4, 20, 0, 30);
  const at = (days: number, hours: number) => new Date(2026, 4, 20 + days, hours).getTime();
  const groups = groupByAge(
    [session("now", at(0, 0)), session("late", at(-1, 23)), session("week", at(-6, 5)), session("old", at(-30, 5))],
    now,
  );
  expect(groups.map(([age, members]) => [age, members.map((one) => one.id)])).toEqual([
    ["today", ["now"]],
    ["yesterday", ["late"]],
    ["thisWeek", ["week"]],
    ["earlier", ["old"]],
  ]);
});
