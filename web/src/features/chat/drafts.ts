/** Unsent messages by chat, kept in the browser: the text at once, files in a database. Failures are harmless. */

import { type FilePart, LARGEST_MESSAGE, sizeOf } from "@/features/chat/attachments";
import { isRecord, number, text } from "@/protocol/shapes";

/** The chat that does not exist yet. */
export const NEW_CHAT = "new";

const PREFIX = "dovetail.draft.";
const LONGEST_TEXT = 100_000;
const MOST_DRAFTS = 50;
const LONGEST_AGE = 30 * 86_400_000;

export type DraftStorage = Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">;

/** Where the files of drafts are kept. */
export interface DraftFiles {
  read(key: string): Promise<FilePart[]>;
  write(key: string, files: FilePart[]): Promise<void>;
  remove(key: string): Promise<void>;
  keys(): Promise<string[]>;
}

interface Entry {
  text: string;
  /** When it was changed. */
  at: number;
  /** When its files were changed; 0 without files. */
  filesAt: number;
}

/** Drafts that are not kept, such as that of a message which is edited. */
export function unkeptDrafts(): Drafts {
  const storage: DraftStorage = {
    getItem: () => null,
    setItem: () => {},
    removeItem: () => {},
    key: () => null,
    length: 0,
  };
  const vault: DraftFiles = {
    read: async () => [],
    write: async () => {},
    remove: async () => {},
    keys: async () => [],
  };
  return new Drafts(storage, vault, "");
}

export class Drafts {
  constructor(
    private readonly storage: DraftStorage,
    private readonly vault: DraftFiles,
    private readonly owner: string,
    private readonly now: () => number = Date.now,
  ) {}

  text(chat: string): string {
    return this.#read(chat)?.text ?? "";
  }

  /** Changes whenever the files of a draft have; 0 if it has none. */
  filesAt(chat: string): number {
    return this.#read(chat)?.filesAt ?? 0;
  }

  async files(chat: string): Promise<FilePart[]> {
    return this.filesAt(chat) === 0 ? [] : this.vault.read(this.#key(chat)).catch(() => []);
  }

  keepText(chat: string, words: string): void {
    if (words.length <= LONGEST_TEXT) this.#write(chat, { text: words, at: this.now(), filesAt: this.filesAt(chat) });
  }

  async keepFiles(chat: string, files: FilePart[]): Promise<void> {
    const key = this.#key(chat);
    const size = files.reduce((sum, file) => sum + sizeOf(file), 0);
    const fits = files.length > 0 && size <= LARGEST_MESSAGE;
    try {
      await (fits ? this.vault.write(key, files) : this.vault.remove(key));
      this.#write(chat, { text: this.text(chat), at: this.now(), filesAt: fits ? this.now() : 0 });
    } catch {
      // Without a database the files last as long as the page.
    }
  }

  /** Forgets the draft of a chat that was sent or deleted. */
  remove(chat: string): void {
    const hadFiles = this.filesAt(chat) !== 0;
    this.#delete(this.#key(chat));
    if (hadFiles) this.vault.remove(this.#key(chat)).catch(() => undefined);
  }

  /** Whether a change of the browser's storage concerns this draft. */
  isAbout(chat: string, key: string | null): boolean {
    return key === null || key === this.#key(chat);
  }

  /** Forgets what is old, and files without their draft. */
  async tidy(): Promise<void> {
    const found = this.#entries().sort((one, other) => other.entry.at - one.entry.at);
    const isOld = (at: number) => this.now() - at > LONGEST_AGE;
    const kept = found.filter(({ entry }, place) => place < MOST_DRAFTS && !isOld(entry.at));
    for (const { key } of found) if (!kept.some((one) => one.key === key)) this.#delete(key);
    const withFiles = new Set(kept.filter(({ entry }) => entry.filesAt !== 0).map(({ key }) => key));
    for (const key of await this.vault.keys().catch(() => [])) {
      if (!withFiles.has(key)) await this.vault.remove(key).catch(() => undefined);
    }
  }

  #key(chat: string): string {
    return `${PREFIX}${this.owner}.${chat}`;
  }

  #entries(): Array<{ key: string; entry: Entry }> {
    const keys = Array.from({ length: this.storage.length }, (_, at) => this.storage.key(at) ?? "");
    return keys.filter((key) => key.startsWith(PREFIX)).map((key) => ({ key, entry: this.#parse(key) ?? NOTHING }));
  }

  #read(chat: string): Entry | null {
    return this.#parse(this.#key(chat));
  }

  #parse(key: string): Entry | null {
    try {
      const stored: unknown = JSON.parse(this.storage.getItem(key) ?? "null");
      if (!isRecord(stored)) return null;
      return { text: text(stored["text"]), at: number(stored["at"]), filesAt: number(stored["filesAt"]) };
    } catch {
      return null;
    }
  }

  #write(chat: string, entry: Entry): void {
    try {
      if (entry.text === "" && entry.filesAt === 0) this.#delete(this.#key(chat));
      else this.storage.setItem(this.#key(chat), JSON.stringify(entry));
    } catch {
      // The storage is full or closed.
    }
  }

  #delete(key: string): void {
    try {
      this.storage.removeItem(key);
    } catch {
      // The storage is closed.
    }
  }
}

const NOTHING: Entry = { text: "", at: 0, filesAt: 0 };
