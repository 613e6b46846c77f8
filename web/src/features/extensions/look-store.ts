/**
 * What extension folders bring for the page: modules that draw the calls of a tool or act in the browser. They
 * follow the server's list: a changed module has another address and replaces the old one, a folder that went
 * away takes its cards along, and a broken module leaves the page as it is without one.
 */

import { describe, fileOf, type Look } from "@/features/extensions/look";
import type { BrowserTool, CallState, Card } from "@/protocol/dovetail";
import { Store } from "@/ui/store";

export interface LookFault {
  folder: string;
  file: string;
  message: string;
}

export interface ActiveCard {
  Card: Card;
  states: readonly CallState[];
  onError: (error: unknown) => void;
}

export interface LookBackend {
  /** The addresses of modules and style sheets, by folder. */
  list(): Promise<Readonly<Record<string, readonly string[]>>>;
  load(url: string): Promise<unknown>;
  /** Adds a style sheet to the page; returns what removes it. */
  link(url: string): () => void;
  /** Called with everything that is in force now. */
  apply(cards: ReadonlyMap<string, ActiveCard>, browserTools: ReadonlyMap<string, BrowserTool>): void;
}

interface LookState {
  looks: readonly Look[];
  faults: readonly LookFault[];
}

export class LookStore extends Store<LookState> {
  readonly #styles = new Map<string, () => void>();
  /** The errors of cards that could not be drawn: they stay known while their module is loaded. */
  #undrawn: Array<{ look: Look; found: LookFault }> = [];
  #attempts = 0;
  #refreshing: Promise<void> | null = null;
  #next: Promise<void> | null = null;

  constructor(private readonly backend: LookBackend) {
    super({ looks: [], faults: [] });
  }

  /** Follows the server's list; what is asked for during a refresh is done after it. */
  refresh(): Promise<void> {
    if (this.#refreshing === null) {
      this.#refreshing = this.#refresh().finally(() => {
        this.#refreshing = null;
      });
      return this.#refreshing;
    }
    this.#next ??= this.#refreshing.then(() => {
      this.#next = null;
      return this.refresh();
    });
    return this.#next;
  }

  async #refresh(): Promise<void> {
    let listed: Readonly<Record<string, readonly string[]>>;
    try {
      listed = await this.backend.list();
    } catch {
      return; // an old server, or none: what is loaded stays
    }
    const files = Object.entries(listed).flatMap(([folder, urls]) => urls.map((url) => ({ folder, url })));
    const modules = files.filter(({ url }) => !url.endsWith(".css"));
    const known = this.read().looks;
    if (!isSame(known, modules)) {
      const looks = await Promise.all(modules.map(({ folder, url }) => this.#load(folder, url)));
      this.#apply(looks);
    }
    this.#linkStyles(files.map(({ url }) => url).filter((url) => url.endsWith(".css")));
  }

  async #load(folder: string, url: string): Promise<Look> {
    const known = this.read().looks.find((look) => look.url === url);
    if (known?.error === null) return known;
    // A browser remembers the failure of an address, so another attempt needs another one.
    const suffix = known === undefined ? "" : `?attempt=${++this.#attempts}`;
    const { loadLook } = await import("@/features/extensions/load-look");
    return loadLook(folder, url, (address) => this.backend.load(address + suffix));
  }

  #apply(looks: readonly Look[]): void {
    const faults = looks.filter((look) => look.error !== null).map((look) => fault(look, look.error ?? ""));
    const cards = new Map<string, ActiveCard>();
    const browserTools = new Map<string, BrowserTool>();
    const owners = new Map<string, string>();
    for (const look of looks) {
      const isFree = (kind: string, name: string): boolean => {
        const owner = owners.get(`${kind} ${name}`) ?? look.folder;
        owners.set(`${kind} ${name}`, owner);
        if (owner !== look.folder) faults.push(fault(look, `The ${kind} for "${name}" comes from folder "${owner}".`));
        return owner === look.folder;
      };
      for (const [name, card] of look.cards) {
        if (isFree("card", name)) cards.set(name, { ...card, onError: (error) => this.#report(look, error) });
      }
      for (const [name, handler] of look.browserTools) if (isFree("handler", name)) browserTools.set(name, handler);
    }
    this.#undrawn = this.#undrawn.filter(({ look }) => looks.includes(look));
    this.change({ looks, faults: [...faults, ...this.#undrawn.map(({ found }) => found)] });
    this.backend.apply(cards, browserTools);
  }

  /** Adds the error of a card that could not be drawn, once. */
  #report(look: Look, error: unknown): void {
    const { looks, faults } = this.read();
    const found = fault(look, describe(error));
    const isKnown = faults.some((each) => each.file === found.file && each.message === found.message);
    if (isKnown || !looks.includes(look)) return;
    this.#undrawn.push({ look, found });
    this.change({ faults: [...faults, found] });
  }

  #linkStyles(urls: readonly string[]): void {
    for (const url of urls) if (!this.#styles.has(url)) this.#styles.set(url, this.backend.link(url));
    for (const [url, remove] of this.#styles) {
      if (urls.includes(url)) continue;
      remove();
      this.#styles.delete(url);
    }
  }
}

function fault(look: Look, message: string): LookFault {
  return { folder: look.folder, file: fileOf(look.folder, look.url), message };
}

/** Whether all of these modules, and no others, are loaded and sound. */
function isSame(looks: readonly Look[], modules: ReadonlyArray<{ url: string }>): boolean {
  return (
    looks.length === modules.length && looks.every((look, at) => look.error === null && look.url === modules[at]?.url)
  );
}
