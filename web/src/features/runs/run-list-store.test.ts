import { expect, test } from "vitest";
import { EVERYTHING, queryOf } from "@/features/runs/filter";
import { PAGE, RunListStore } from "@/features/runs/run-list-store";
import type { ListedRun, RunPage } from "@/protocol/listed-run";

function makeRun(id: string): ListedRun {
  const nothing = { sessionId: null, messageId: null, title: null, reason: null, cost: null };
  const counted = { inputTokens: 0, outputTokens: 0, duration: 0, createdAt: 0 };
  return { id, owner: "ann", agent: "master", model: "m", state: "ended", ...nothing, ...counted };
}

function makePage(ids: string[], cursor: string | null): RunPage {
  return { runs: ids.map(makeRun), totals: { runs: 9, cost: 1, tokens: 5, unpricedTokens: 0 }, cursor };
}

function makeStore(list: (limit: number, cursor: string | null) => Promise<RunPage>) {
  const cancelled: string[] = [];
  const store = new RunListStore(() => queryOf(EVERYTHING, 0), {
    list: (_query, limit, cursor) => list(limit, cursor),
    cancel: async (id) => void cancelled.push(id),
  });
  return { store, cancelled, ids: () => store.read().runs?.map(({ id }) => id) };
}

test("pages follow each other and no run is shown twice", async () => {
  const { store, ids } = makeStore(async (_limit, cursor) =>
    cursor === null ? makePage(["a", "b"], "next") : makePage(["b", "c"], null),
  );
  await store.refresh();
  expect(store.read().hasMore).toBe(true);
  await store.more();
  expect(ids()).toEqual(["a", "b", "c"]);
  expect(store.read().hasMore).toBe(false);
  await store.more();
  expect(ids()).toEqual(["a", "b", "c"]);
});

test("an older answer does not replace a newer one", async () => {
  const waiting: ((page: RunPage) => void)[] = [];
  const { store, ids } = makeStore(() => new Promise((resolve) => waiting.push(resolve)));
  const first = store.refresh();
  const second = store.refresh();
  waiting[1]?.(makePage(["new"], null));
  waiting[0]?.(makePage(["old"], null));
  await Promise.all([first, second]);
  expect(ids()).toEqual(["new"]);
});

test("a refresh reads as many runs as are shown", async () => {
  const limits: number[] = [];
  const many = Array.from({ length: 70 }, (_, index) => `run${index}`);
  const { store } = makeStore(async (limit) => {
    limits.push(limit);
    return makePage(many, null);
  });
  await store.refresh();
  await store.refresh();
  expect(limits).toEqual([PAGE, 70]);
});

test("a failure keeps what is shown", async () => {
  let isBroken = false;
  const { store, ids } = makeStore(async () => {
    if (isBroken) throw new Error("away");
    return makePage(["a"], null);
  });
  await store.refresh();
  isBroken = true;
  await store.refresh();
  expect(store.read().error?.message).toBe("away");
  expect(ids()).toEqual(["a"]);
});

test("cancelling a run reads the list again", async () => {
  let reads = 0;
  const { store, cancelled } = makeStore(async () => {
    reads++;
    return makePage(["a"], null);
  });
  await store.cancel("a");
  expect(cancelled).toEqual(["a"]);
  expect(reads).toBe(1);
});
