/** Where the open asks are drawn: which of them are in sight, and the focus after an answer. Free of React. */

import { Store } from "@/ui/store";

interface Places {
  /** The ids of the asks that are in sight. */
  readonly inSight: ReadonlySet<string>;
}

export class AskPlaces extends Store<Places> {
  readonly #elements = new Map<string, HTMLElement>();
  /** The asks that are being answered: the focus does not go there any more. */
  readonly #answered = new Set<string>();
  /** The ask that gets the focus as soon as it is drawn. */
  #wanted: string | null = null;
  /** Takes the focus when nothing waits any longer. */
  rest: () => void = () => {};

  constructor() {
    super({ inSight: new Set() });
  }

  /** Watches an ask until the returned function is called. */
  watch(id: string, element: HTMLElement): () => void {
    this.#elements.set(id, element);
    const observer = new IntersectionObserver((entries) => this.#see(id, entries.at(-1)?.isIntersecting === true));
    observer.observe(element);
    if (this.#wanted === id) this.seek(id);
    return () => {
      observer.disconnect();
      this.#answered.delete(id);
      if (this.#elements.get(id) === element) this.#elements.delete(id);
      this.#see(id, false);
    };
  }

  /** Brings an ask into sight and focuses its first action; false if it is not drawn. */
  focus(id: string): boolean {
    const element = this.#elements.get(id);
    if (element === undefined) return false;
    element.scrollIntoView({ block: "nearest" });
    const target =
      element.querySelector<HTMLElement>("[data-primary]") ?? element.querySelector<HTMLElement>("input, button");
    target?.focus({ preventScroll: true });
    return target !== null;
  }

  /** Goes to an ask, now or when its chat has drawn it. */
  seek(id: string): void {
    this.#wanted = this.focus(id) ? null : id;
  }

  /** The ask that comes after this one on the page, otherwise the first; null if there is no other. */
  next(id: string): string | null {
    const ids = this.#inOrder();
    const at = ids.indexOf(id);
    const others = [...ids.slice(at + 1), ...ids.slice(0, Math.max(at, 0))].filter(
      (other) => other !== id && !this.#answered.has(other),
    );
    return others[0] ?? null;
  }

  /** Moves the focus on from an ask that is being answered: to the next one, otherwise to where it rests. */
  leave(id: string): void {
    this.#answered.add(id);
    if (this.#elements.get(id)?.contains(document.activeElement) !== true) return;
    const next = this.next(id);
    if (next === null || !this.focus(next)) this.rest();
  }

  /** Called if an answer was refused: the ask still waits. */
  keep(id: string): void {
    this.#answered.delete(id);
  }

  #inOrder(): string[] {
    const entries = [...this.#elements];
    entries.sort(([, one], [, other]) =>
      one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1,
    );
    return entries.map(([id]) => id);
  }

  #see(id: string, isInSight: boolean): void {
    const { inSight } = this.read();
    if (inSight.has(id) === isInSight) return;
    const now = new Set(inSight);
    if (isInSight) now.add(id);
    else now.delete(id);
    this.change({ inSight: now });
  }
}

/** The asks of this page. */
export const askPlaces = new AskPlaces();
