/** The message that is being written: its text and files, kept as a draft of its chat. Free of React. */

import { type FilePart, type Refusal, readFile, refusalOf, sizeOf } from "@/features/chat/attachments";
import type { Drafts } from "@/features/chat/drafts";
import type { Outgoing } from "@/features/chat/session-info";
import { Store } from "@/ui/store";

/** A file of the message; without its part it is still being read. */
export interface FileItem {
  readonly id: number;
  readonly name: string;
  readonly size: number;
  /** How much of it has been read, from 0 to 1. */
  readonly progress: number;
  readonly part: FilePart | null;
}

/** Why a file was not attached, or why the message could not be sent. */
export type ComposerNotice = Refusal | { kind: "failed"; error: unknown };

export interface ComposerState {
  readonly text: string;
  readonly files: readonly FileItem[];
  readonly notice: ComposerNotice | null;
}

const PAUSE = 300;

export class ComposerStore extends Store<ComposerState> {
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Whether text was typed here that is not stored yet. */
  #isDirty = false;
  #filesAt: number;
  #nextId = 1;

  constructor(
    private readonly drafts: Drafts,
    private chat: string,
  ) {
    super({ text: drafts.text(chat), files: [], notice: null });
    this.#filesAt = drafts.filesAt(chat);
    if (this.#filesAt !== 0) void this.#loadFiles();
  }

  get canSend(): boolean {
    const { text, files } = this.read();
    return (text.trim() !== "" || files.length > 0) && files.every((file) => file.part !== null);
  }

  setText(text: string): void {
    this.#isDirty = true;
    this.change({ text });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.flush, PAUSE);
  }

  /** Adds files while there is room for them; of several refusals the first one is shown. */
  async attach(list: Iterable<File>): Promise<void> {
    const refused: Refusal[] = [];
    const reading: Promise<void>[] = [];
    for (const file of list) {
      const { files } = this.read();
      const refusal = refusalOf(file, files.length, total(files));
      if (refusal !== null) refused.push(refusal);
      else reading.push(this.#read(file, refused));
    }
    this.change({ notice: refused[0] ?? null });
    await Promise.all(reading);
    if (refused.length > 0) this.change({ notice: refused[0] ?? null });
    if (reading.length > 0) await this.#keepFiles();
  }

  remove(id: number): void {
    this.change({ files: this.read().files.filter((file) => file.id !== id), notice: null });
    void this.#keepFiles();
  }

  dismiss(): void {
    this.change({ notice: null });
  }

  /** Reports something that has failed. */
  fail(error: unknown): void {
    this.change({ notice: { kind: "failed", error } });
  }

  /** Takes the message to send it, and forgets its draft. */
  take(): Outgoing {
    const { text, files } = this.read();
    clearTimeout(this.#timer);
    this.#isDirty = false;
    this.change({ text: "", files: [], notice: null });
    this.drafts.remove(this.chat);
    this.#filesAt = 0;
    return { text: text.trim(), files: files.flatMap(({ part }) => (part === null ? [] : [part])) };
  }

  /** Begins with a message that was sent before. */
  fill({ text, files = [] }: Outgoing): void {
    this.change({ text, files: files.map((part) => this.#item(part)), notice: null });
  }

  /** Puts a message that could not be sent in front of what was written since. */
  giveBack(message: Outgoing, error: unknown): void {
    const { text, files } = this.read();
    const items = (message.files ?? []).map((part) => this.#item(part));
    this.change({ files: [...items, ...files], notice: { kind: "failed", error } });
    this.setText(text === "" ? message.text : `${message.text}\n${text}`);
    if (items.length > 0) void this.#keepFiles();
  }

  /** Continues in another chat: a new one gets its name with its first message. */
  moveTo(chat: string): void {
    if (chat === this.chat) return;
    this.flush();
    this.chat = chat;
    if (this.read().text !== "") this.drafts.keepText(chat, this.read().text);
    if (this.read().files.length > 0) void this.#keepFiles();
  }

  /** Takes over what another tab has written here or sent; `key` is the changed entry of the storage. */
  follow(key: string | null): void {
    if (this.#isDirty || !this.drafts.isAbout(this.chat, key)) return;
    const text = this.drafts.text(this.chat);
    if (text !== this.read().text) this.change({ text });
    const filesAt = this.drafts.filesAt(this.chat);
    if (filesAt === this.#filesAt) return;
    this.#filesAt = filesAt;
    if (filesAt === 0) this.change({ files: [] });
    else void this.#loadFiles();
  }

  /** Stores the text now; it is otherwise stored after a pause in typing. */
  readonly flush = (): void => {
    clearTimeout(this.#timer);
    // Another tab may have sent or changed what was not touched here.
    if (this.#isDirty) this.drafts.keepText(this.chat, this.read().text);
    this.#isDirty = false;
  };

  protected override onUnread(): void {
    this.flush();
  }

  async #read(file: File, refused: Refusal[]): Promise<void> {
    const id = this.#nextId++;
    const item: FileItem = { id, name: file.name, size: file.size, progress: 0, part: null };
    this.change({ files: [...this.read().files, item] });
    const found = await readFile(file, (progress) => this.#update(id, { progress }));
    if ("type" in found) {
      this.#update(id, { part: found, progress: 1 });
      return;
    }
    refused.push(found);
    this.change({ files: this.read().files.filter((one) => one.id !== id) });
  }

  #update(id: number, change: Partial<FileItem>): void {
    this.change({ files: this.read().files.map((file) => (file.id === id ? { ...file, ...change } : file)) });
  }

  #item(part: FilePart): FileItem {
    return { id: this.#nextId++, name: part.filename ?? part.mediaType, size: sizeOf(part), progress: 1, part };
  }

  async #loadFiles(): Promise<void> {
    const parts = await this.drafts.files(this.chat);
    const fresh = this.read().files.filter((file) => file.part === null);
    this.change({ files: [...parts.map((part) => this.#item(part)), ...fresh] });
  }

  async #keepFiles(): Promise<void> {
    const { chat } = this;
    const parts = this.read().files.flatMap(({ part }) => (part === null ? [] : [part]));
    await this.drafts.keepFiles(chat, parts);
    // The message was sent while its files were being stored.
    if (parts.length > 0 && this.read().files.length === 0) this.drafts.remove(chat);
    if (chat === this.chat) this.#filesAt = this.drafts.filesAt(chat);
  }
}

function total(files: readonly FileItem[]): number {
  return files.reduce((sum, file) => sum + file.size, 0);
}
