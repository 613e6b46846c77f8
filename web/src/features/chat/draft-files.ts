/** The files of drafts in the browser's database. */

import type { FilePart } from "@/features/chat/attachments";
import type { DraftFiles } from "@/features/chat/drafts";

const STORE = "files";

export class DraftDatabase implements DraftFiles {
  #opened: Promise<IDBDatabase> | null = null;

  async read(key: string): Promise<FilePart[]> {
    const found: unknown = await this.#do("readonly", (store) => store.get(key));
    return Array.isArray(found) ? (found as FilePart[]) : [];
  }

  async write(key: string, files: FilePart[]): Promise<void> {
    await this.#do("readwrite", (store) => store.put(files, key));
  }

  async remove(key: string): Promise<void> {
    await this.#do("readwrite", (store) => store.delete(key));
  }

  async keys(): Promise<string[]> {
    return (await this.#do("readonly", (store) => store.getAllKeys())).map(String);
  }

  async #do<T>(mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
    this.#opened ??= open();
    const database = await this.#opened.catch((error: unknown) => {
      this.#opened = null;
      throw error;
    });
    return done(work(database.transaction(STORE, mode).objectStore(STORE)));
  }
}

function open(): Promise<IDBDatabase> {
  const request = indexedDB.open("dovetail-drafts", 1);
  request.onupgradeneeded = () => request.result.createObjectStore(STORE);
  return done(request);
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
