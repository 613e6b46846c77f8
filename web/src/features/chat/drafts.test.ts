import { expect, test } from "vitest";
import { type FilePart, LARGEST_MESSAGE } from "@/features/chat/attachments";
import { ComposerStore } from "@/features/chat/composer-store";
import { type DraftFiles, type DraftStorage, Drafts, NEW_CHAT } from "@/features/chat/drafts";

const DAY = 86_400_000;

class MemoryStorage implements DraftStorage {
  readonly items = new Map<string, string>();
  get length(): number {
    return this.items.size;
  }
  key = (index: number) => [...this.items.keys()][index] ?? null;
  getItem = (key: string) => this.items.get(key) ?? null;
  setItem = (key: string, value: string) => void this.items.set(key, value);
  removeItem = (key: string) => void this.items.delete(key);
}

class MemoryFiles implements DraftFiles {
  readonly items = new Map<string, FilePart[]>();
  read = async (key: string) => this.items.get(key) ?? [];
  write = async (key: string, files: FilePart[]) => void this.items.set(key, files);
  remove = async (key: string) => void this.items.delete(key);
  keys = async () => [...this.items.keys()];
}

function browser() {
  const storage = new MemoryStorage();
  const files = new MemoryFiles();
  let now = 1_000 * DAY;
  return {
    storage,
    files,
    drafts: (owner = "") => new Drafts(storage, files, owner, () => now++),
    pass: (milliseconds: number) => {
      now += milliseconds;
    },
  };
}

const NOTE = new File(["a note"], "note.txt", { type: "text/plain" });
const names = (store: ComposerStore) => store.read().files.map((file) => file.name);
const settled = () => new Promise((resolve) => setTimeout(resolve));

test("a draft returns with its text and files, in its own chat and for its own owner only", async () => {
  const { drafts } = browser();
  const store = new ComposerStore(drafts("ann"), "s1");
  store.setText("half a question");
  await store.attach([NOTE]);
  store.flush();
  const again = new ComposerStore(drafts("ann"), "s1");
  expect(again.read().text).toBe("half a question");
  await settled();
  expect(names(again)).toEqual(["note.txt"]);
  for (const [owner, chat] of [
    ["ann", "s2"],
    ["ann", NEW_CHAT],
    ["bob", "s1"],
  ] as const) {
    expect(new ComposerStore(drafts(owner), chat).read().text).toBe("");
  }
});

test("a message that is sent leaves no draft, not even if its files are still being stored", async () => {
  const { drafts, storage, files } = browser();
  const store = new ComposerStore(drafts(), "s1");
  store.setText("  a question ");
  await store.attach([NOTE]);
  store.flush();
  const attaching = store.attach([NOTE]);
  while (!store.canSend) await settled();
  const sent = store.take();
  expect(sent.text).toBe("a question");
  expect(sent.files?.length).toBe(2);
  await attaching;
  await settled();
  expect([storage.items.size, files.items.size]).toEqual([0, 0]);
  store.giveBack(sent, new Error("no network"));
  store.flush();
  await settled();
  expect(store.read().text).toBe("a question");
  expect([storage.items.size, files.items.size]).toEqual([1, 1]);
});

test("a new chat gets its name with its first message, and the next draft belongs to it", () => {
  const { drafts } = browser();
  const store = new ComposerStore(drafts(), NEW_CHAT);
  store.setText("first");
  store.take();
  store.moveTo("s1");
  store.setText("second");
  store.flush();
  expect(drafts().text(NEW_CHAT)).toBe("");
  expect(drafts().text("s1")).toBe("second");
});

test("another tab sees what was written, and loses it when it was sent", async () => {
  const { drafts, storage } = browser();
  const [here, there] = [new ComposerStore(drafts(), "s1"), new ComposerStore(drafts(), "s1")];
  here.setText("from here");
  await here.attach([NOTE]);
  here.flush();
  const key = storage.key(0);
  there.follow("dovetail.theme");
  expect(there.read().text).toBe("");
  there.follow(key);
  await settled();
  expect([there.read().text, names(there)]).toEqual(["from here", ["note.txt"]]);
  here.take();
  there.follow(key);
  expect([there.read().text, names(there)]).toEqual(["", []]);
});

test("old drafts and files without a draft are forgotten", async () => {
  const { drafts, storage, files, pass } = browser();
  const all = drafts();
  all.keepText("old", "old");
  await all.keepFiles("old", [{ type: "file", mediaType: "text/plain", url: "data:text/plain;base64,eA==" }]);
  pass(31 * DAY);
  for (let number = 0; number < 55; number++) all.keepText(`s${number}`, "text");
  files.items.set("dovetail.draft..stray", []);
  storage.items.set("dovetail.theme", "dark");
  await all.tidy();
  expect(storage.items.size).toBe(51);
  expect(files.items.size).toBe(0);
  expect([all.text("old"), all.text("s0"), all.text("s54")]).toEqual(["", "", "text"]);
});

test("a storage that is full, closed or broken does no harm", async () => {
  const refuse = () => {
    throw new Error("QuotaExceededError");
  };
  const { storage, files } = browser();
  const vault: DraftFiles = {
    ...files,
    read: refuse,
    write: async () => refuse(),
    remove: refuse,
    keys: async () => refuse(),
  };
  const drafts = new Drafts(Object.assign(storage, { setItem: refuse }), vault, "");
  const store = new ComposerStore(drafts, "s1");
  store.setText("text");
  await store.attach([NOTE]);
  store.flush();
  await drafts.tidy();
  expect(store.take()).toMatchObject({ text: "text", files: [{ filename: "note.txt" }] });
  storage.items.set("dovetail.draft..s2", "{broken");
  expect(drafts.text("s2")).toBe("");
});

test("too much is not stored, and files that are refused are named", async () => {
  const { drafts, storage } = browser();
  drafts().keepText("s1", "x".repeat(200_000));
  const url = `data:text/plain;base64,${"A".repeat(LARGEST_MESSAGE * 2)}`;
  await drafts().keepFiles("s1", [{ type: "file", mediaType: "text/plain", url }]);
  expect(storage.items.size).toBe(0);
  const store = new ComposerStore(drafts(), "s1");
  await store.attach([new File([new Uint8Array([0, 1])], "a.zip"), NOTE]);
  expect(store.read().notice).toEqual({ kind: "unsupported", name: "a.zip" });
  expect(names(store)).toEqual(["note.txt"]);
});
