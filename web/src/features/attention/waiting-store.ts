/** Everything that waits for the user, over all chats. */

import type { WaitingAsk } from "@/protocol/feed";
import { type Text, titleIn } from "@/text/text";
import { Store } from "@/ui/store";

export interface WaitingSnapshot {
  readonly asks: readonly WaitingAsk[];
  /** The chats that wait, and those in whose background something waits. */
  readonly sessionIds: ReadonlySet<string>;
}

const NONE: WaitingSnapshot = { asks: [], sessionIds: new Set() };

export class WaitingStore extends Store<WaitingSnapshot> {
  /** Called with what has begun to wait since the page was opened. */
  onNew: (asks: readonly WaitingAsk[]) => void = () => {};
  #known: Set<string> | null = null;
  #turn = 0;

  constructor(private readonly list: () => Promise<WaitingAsk[]>) {
    super(NONE);
  }

  /** Loads what waits; of overlapping calls the last one wins. */
  async refresh(): Promise<void> {
    const turn = ++this.#turn;
    const asks = await this.list().catch(() => null);
    if (asks === null || turn !== this.#turn) return;
    const known = this.#known;
    this.#known = new Set(asks.map((ask) => ask.id));
    this.#set(asks);
    const fresh = known === null ? [] : asks.filter((ask) => !known.has(ask.id));
    if (fresh.length > 0) this.onNew(fresh);
  }

  /** Leaves out what was answered, before the server is asked again. */
  forget(isGone: (ask: WaitingAsk) => boolean): void {
    const { asks } = this.read();
    const rest = asks.filter((ask) => !isGone(ask));
    if (rest.length < asks.length) this.#set(rest);
  }

  #set(asks: readonly WaitingAsk[]): void {
    const places = asks.flatMap((ask) => [ask.sessionId, ask.parentId]).filter((id) => id !== null);
    this.change({ asks, sessionIds: new Set(places) });
  }
}

/** “Write file notes.md”: the tool and what it is about, or the question. */
export function wordsOf({ kind, subject, about }: WaitingAsk, t: Text): string {
  if (kind === "question") return subject || t.aQuestion;
  return `${titleIn(t, subject) || t.anApproval} ${about}`.trim();
}
