/**
 * Tools that run in the user's browser (rule C56). A call runs exactly once, even across reloads and with several
 * tabs open, and it is always acknowledged: with a value, an error, or the news that the page was closed.
 */

import type { Acknowledgement, Ledger, LedgerEntry } from "@/features/browser-tools/ledger";
import type { BrowserTool } from "@/protocol/dovetail";

export interface BrowserCall {
  askId: string;
  callId: string;
  toolName: string;
  input: unknown;
  /** Whether the run belongs to this tab, so that no other tab is expected to act. */
  isForThisTab: boolean;
}

/** How an ask stands: no tab has claimed it, another one has, or it has ended. */
export type Standing = "free" | "taken" | "over";

export type Handler = (call: { input: unknown; callId: string; tabId: string }) => Promise<Acknowledgement>;

export interface ExecutorBackend {
  /** Claims the ask for this tab; false if another tab has it or it is no longer open. */
  claim(askId: string, tabId: string): Promise<boolean>;
  acknowledge(callId: string, acknowledgement: Acknowledgement): Promise<void>;
  /** Acknowledges while the page goes away. */
  acknowledgeLast(callId: string, acknowledgement: Acknowledgement): void;
  look(askId: string, tabId: string): Promise<Standing>;
  /** Called for a tool without a handler, before its call is refused: one may have been added since. */
  findHandlers?(): Promise<void>;
}

/** Less than half of a lease. */
const RENEWAL = 6000;
/** The tab that the run belongs to acts at once; other tabs wait this long before they act instead. */
const COURTESY = 1500;
/** How often a tab looks whether a call is still left to another one. */
const PATIENCE = 5000;

export const INTERRUPTED: Acknowledgement = {
  status: "failed",
  errorText: "The page was closed or reloaded while the tool was running.",
};

export class FrontendToolExecutor {
  readonly #handlers = new Map<string, Handler>();
  #furtherHandlers: ReadonlyMap<string, Handler> = new Map();
  readonly #offered = new Set<string>();
  readonly #begun = new Set<string>();
  /** The calls of this tab that are not acknowledged yet, with their result if there is one. */
  readonly #running = new Map<string, { callId: string; result: Acknowledgement | null }>();

  constructor(
    private readonly tabId: string,
    private readonly backend: ExecutorBackend,
    private readonly ledger: Ledger,
    private readonly sleep = (milliseconds: number) => new Promise<void>((done) => setTimeout(done, milliseconds)),
  ) {}

  /** Registers a tool; only registered tools are ever run. */
  register(toolName: string, handler: Handler): void {
    this.#handlers.set(toolName, handler);
  }

  /** Replaces the handlers that extension folders bring; those of the page come first. */
  adopt(handlers: ReadonlyMap<string, Handler>): void {
    this.#furtherHandlers = handlers;
  }

  /** Runs the call here, or stands by until another tab has, or has failed to. */
  async offer(call: BrowserCall): Promise<void> {
    if (this.#offered.has(call.askId)) return;
    this.#offered.add(call.askId);
    try {
      await this.#standBy(call);
    } finally {
      this.#offered.delete(call.askId);
    }
  }

  async #standBy(call: BrowserCall): Promise<void> {
    if (call.isForThisTab && (await this.execute(call))) return;
    let isLate = false;
    for (let pause = COURTESY; ; pause = PATIENCE) {
      await this.sleep(pause);
      const standing = await this.backend.look(call.askId, this.tabId);
      // Only if the other tab is late, too, this one speaks for it: that tab may have a handler.
      if (standing === "free" && (await this.execute({ ...call, isForThisTab: call.isForThisTab || isLate }))) return;
      if (standing === "over") return;
      isLate = standing === "free";
    }
  }

  /** Renews the leases of the calls that run here, as when the page is hidden and its timers become slow. */
  renew(): void {
    for (const askId of this.#running.keys()) void this.backend.claim(askId, this.tabId).catch(() => undefined);
  }

  /** The page goes away: acknowledges what runs here, so that no run waits for it. */
  leave(): void {
    for (const [askId, { callId, result }] of this.#running) {
      const acknowledgement = result ?? INTERRUPTED;
      this.ledger.write(askId, { state: "done", acknowledgement });
      this.backend.acknowledgeLast(callId, acknowledgement);
    }
    this.#running.clear();
  }

  /** Runs the call if this tab should, and returns whether it did; safe to call any number of times. */
  async execute(call: BrowserCall): Promise<boolean> {
    if (this.#begun.has(call.askId)) return true;
    this.#begun.add(call.askId);
    let isAnswered = false;
    try {
      const handler = await this.#findHandler(call);
      isAnswered = handler !== null && (await this.#attempt(handler, call));
    } finally {
      // A failed claim or acknowledgement is retried when the call arrives again; the ledger knows what was done.
      if (!isAnswered) this.#begun.delete(call.askId);
    }
    return isAnswered;
  }

  async #findHandler({ toolName, isForThisTab }: BrowserCall): Promise<Handler | null> {
    const find = () => this.#handlers.get(toolName) ?? this.#furtherHandlers.get(toolName);
    const known = find();
    if (known !== undefined) return known;
    await this.backend.findHandlers?.();
    return find() ?? (isForThisTab ? refuse(toolName) : null);
  }

  async #attempt(handler: Handler, call: BrowserCall): Promise<boolean> {
    if (!(await this.backend.claim(call.askId, this.tabId))) return false;
    const known = this.ledger.read(call.askId);
    if (known !== null) {
      await this.backend.acknowledge(call.callId, outcomeOf(known));
      return true;
    }
    const running: { callId: string; result: Acknowledgement | null } = { callId: call.callId, result: null };
    this.#running.set(call.askId, running);
    try {
      running.result = await this.#run(handler, call);
      // Otherwise the page went away in between, and has said so.
      if (this.#running.has(call.askId)) await this.backend.acknowledge(call.callId, running.result);
    } finally {
      this.#running.delete(call.askId);
    }
    return true;
  }

  async #run(handler: Handler, call: BrowserCall): Promise<Acknowledgement> {
    this.ledger.write(call.askId, { state: "begun" });
    const renewal = setInterval(() => this.renew(), RENEWAL);
    let acknowledgement: Acknowledgement;
    try {
      acknowledgement = await handler({ input: call.input, callId: call.callId, tabId: this.tabId });
    } catch (error) {
      acknowledgement = { status: "failed", errorText: error instanceof Error ? error.message : String(error) };
    } finally {
      clearInterval(renewal);
    }
    this.ledger.write(call.askId, { state: "done", acknowledgement });
    return acknowledgement;
  }
}

/** The handler of an extension folder: its return value is the result of the call. */
export function asHandler(toolName: string, tool: BrowserTool): Handler {
  return async ({ input, callId, tabId }) => {
    const output = (await tool(input, { toolName, callId, tabId })) ?? null;
    return { status: "success", output };
  };
}

/** Fails at once instead of letting the run wait for a tool that this page does not have. */
function refuse(toolName: string): Handler {
  return async () => ({ status: "failed", errorText: `This page has no handler for the browser tool "${toolName}".` });
}

/** An entry that has begun but not ended was interrupted by a reload; running it again could repeat its effects. */
function outcomeOf(entry: LedgerEntry): Acknowledgement {
  return entry.state === "done" ? entry.acknowledgement : INTERRUPTED;
}
