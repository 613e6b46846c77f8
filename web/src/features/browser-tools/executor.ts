/**
 * Tools that run in the user's browser (rule C56). A call runs exactly once, even across reloads and with several
 * tabs open, and it is always acknowledged: with a value, an error, or the news that the page was closed.
 */

import type { Acknowledgement, Ledger, LedgerEntry } from "@/features/browser-tools/ledger";

export interface BrowserCall {
  askId: string;
  callId: string;
  toolName: string;
  input: unknown;
  /** Whether the run belongs to this tab, so that no other tab is expected to act. */
  isForThisTab: boolean;
}

export type Handler = (call: { input: unknown; callId: string; tabId: string }) => Promise<Acknowledgement>;

export interface ExecutorBackend {
  /** Claims the ask for this tab; false if another tab has it or it is no longer open. */
  claim(askId: string, tabId: string): Promise<boolean>;
  acknowledge(callId: string, acknowledgement: Acknowledgement): Promise<void>;
}

const RENEWAL = 10_000;

export const INTERRUPTED: Acknowledgement = {
  status: "failed",
  errorText: "The page was closed or reloaded while the tool was running.",
};

export class FrontendToolExecutor {
  readonly #handlers = new Map<string, Handler>();
  readonly #begun = new Set<string>();

  constructor(
    private readonly tabId: string,
    private readonly backend: ExecutorBackend,
    private readonly ledger: Ledger,
  ) {}

  /** Registers a tool; only registered tools are ever run. */
  register(toolName: string, handler: Handler): void {
    this.#handlers.set(toolName, handler);
  }

  /** Runs the call if this tab should; safe to call any number of times. */
  async execute(call: BrowserCall): Promise<void> {
    const handler = this.#handlers.get(call.toolName) ?? (call.isForThisTab ? refuse(call.toolName) : undefined);
    if (handler === undefined || this.#begun.has(call.askId)) return;
    this.#begun.add(call.askId);
    let isAnswered = false;
    try {
      isAnswered = await this.#attempt(handler, call);
    } finally {
      // A failed claim or acknowledgement is retried when the call arrives again; the ledger knows what was done.
      if (!isAnswered) this.#begun.delete(call.askId);
    }
  }

  async #attempt(handler: Handler, call: BrowserCall): Promise<boolean> {
    if (!(await this.backend.claim(call.askId, this.tabId))) return false;
    const known = this.ledger.read(call.askId);
    const acknowledgement = known === null ? await this.#run(handler, call) : outcomeOf(known);
    await this.backend.acknowledge(call.callId, acknowledgement);
    return true;
  }

  async #run(handler: Handler, call: BrowserCall): Promise<Acknowledgement> {
    this.ledger.write(call.askId, { state: "begun" });
    const renewal = setInterval(() => void this.backend.claim(call.askId, this.tabId), RENEWAL);
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

/** Fails at once instead of letting the run wait for a tool that this page does not have. */
function refuse(toolName: string): Handler {
  return async () => ({ status: "failed", errorText: `This page has no handler for the browser tool "${toolName}".` });
}

/** An entry that has begun but not ended was interrupted by a reload; running it again could repeat its effects. */
function outcomeOf(entry: LedgerEntry): Acknowledgement {
  return entry.state === "done" ? entry.acknowledgement : INTERRUPTED;
}
