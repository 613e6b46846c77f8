/** The agent and the options of a chat: shown at once, and stored with the chat. */

import type { ChatChoice, ChoiceChange } from "@/protocol/session";
import { Store } from "@/ui/store";

/** The choice that new chats begin with. */
export interface ChoiceDefaults {
  read(): ChatChoice;
  /** Remembers what a person has chosen. */
  keep(change: ChoiceChange): void;
}

export const NO_DEFAULTS: ChoiceDefaults = { read: () => ({}), keep: () => {} };

export class OptionsStore extends Store<ChatChoice> {
  #isStored = false;
  #sent: ChatChoice = {};
  #saves = 0;

  constructor(
    private readonly save: (change: ChoiceChange) => Promise<void>,
    private readonly defaults: ChoiceDefaults,
  ) {
    super(defaults.read());
  }

  /** Whether the server has the chat; before that, its choice is sent with the first message. */
  get isStored(): boolean {
    return this.#isStored;
  }

  /** A request with what the first message of a chat carries; the agent that it names answers once. */
  addTo(request: Record<string, unknown>): Record<string, unknown> {
    if (this.#isStored) return request;
    const { agent, ...options } = this.read();
    const body = { ...(agent === undefined ? {} : { agent }), options, ...request };
    this.#sent = { ...options, agent: body.agent };
    return body;
  }

  /** Changes the choice, null for the default; if the server refuses, it is as before. */
  async set(change: ChoiceChange): Promise<void> {
    const before = this.read();
    this.change(withoutNull(change));
    try {
      if (this.#isStored) await this.#store(change);
      this.defaults.keep(change);
    } catch (error) {
      this.change(Object.fromEntries(Object.keys(change).map((name) => [name, before[name as keyof ChatChoice]])));
      throw error;
    }
  }

  /** Leaves out what a new chat cannot have, such as a model that is gone. */
  forget(name: keyof ChatChoice): void {
    if (this.read()[name] !== undefined) this.change({ [name]: undefined });
  }

  /** Shows the stored choice, unless a change of it is on its way. */
  load(stored: ChatChoice): void {
    this.#isStored = true;
    if (this.#saves > 0) return;
    const gone = Object.fromEntries(Object.keys(this.read()).map((name) => [name, undefined]));
    this.change({ ...gone, ...stored });
  }

  /** The server has got the first message: stores what was changed since it was sent. */
  begin(): void {
    if (this.#isStored) return;
    this.#isStored = true;
    const [now, sent] = [this.read(), this.#sent];
    const names = (Object.keys({ ...sent, ...now }) as Array<keyof ChatChoice>).filter(
      (name) => now[name] !== sent[name],
    );
    const change = Object.fromEntries(names.map((name) => [name, now[name] ?? null]));
    if (names.length > 0) void this.#store(change).catch(() => undefined);
  }

  async #store(change: ChoiceChange): Promise<void> {
    this.#saves++;
    await this.save(change).finally(() => this.#saves--);
  }
}

function withoutNull(change: ChoiceChange): ChatChoice {
  return Object.fromEntries(Object.entries(change).map(([name, value]) => [name, value ?? undefined]));
}
