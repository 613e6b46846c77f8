import { expect, test } from "vitest";
import { AlwaysStore } from "@/features/approvals/always-store";
import type { RememberedAnswer } from "@/protocol/policy";

const rule = (id: string, changes: Partial<RememberedAnswer> = {}): RememberedAnswer => ({
  id,
  tool: "write",
  args: { b: 1, a: "x" },
  agent: "main",
  owner: "ann",
  sessionId: "s",
  givenAt: 1,
  undoneAt: null,
  ...changes,
});
const ALLOWED = { sessionId: "s", tool: "write", args: { a: "x", b: 1 }, title: "Write x" };

function open(lists: RememberedAnswer[][]) {
  const undone: string[] = [];
  const backend = { list: async () => lists.shift() ?? [], undo: async (id: string) => void undone.push(id) };
  return { undone, store: new AlwaysStore(backend, [0, 0]) };
}

test("the answer of this chat is taken back, as soon as the run has stored it", async () => {
  const others = [
    rule("other chat", { sessionId: "t" }),
    rule("other input", { args: { a: "y" } }),
    rule("taken back before", { undoneAt: 2 }),
  ];
  const { store, undone } = open([others, [...others, rule("meant")]]);
  store.note(ALLOWED);
  await store.undo();
  expect(undone).toEqual(["meant"]);
  expect(store.read().state).toBe("undone");
});

test("an answer that is nowhere stored cannot be taken back, and that is said", async () => {
  const { store, undone } = open([]);
  store.note(ALLOWED);
  await store.undo();
  expect([undone, store.read().state]).toEqual([[], "failed"]);
  store.note(ALLOWED);
  expect(store.read().state).toBe("allowed");
});
