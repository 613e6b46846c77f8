/** The call that was just always allowed, and the way back. Free of React. */

import type { RememberedAnswer } from "@/protocol/policy";
import { Store } from "@/ui/store";

interface Allowed {
  sessionId: string;
  tool: string;
  /** The arguments, unless they were edited. */
  args?: unknown;
  /** What was allowed, in a few words. */
  title: string;
}

interface AlwaysSnapshot {
  readonly allowed: Allowed | null;
  readonly state: "allowed" | "undoing" | "undone" | "failed";
}

export interface RuleBackend {
  list(): Promise<RememberedAnswer[]>;
  undo(id: string): Promise<void>;
}

export class AlwaysStore extends Store<AlwaysSnapshot> {
  constructor(
    private readonly backend: RuleBackend,
    /** The run stores the answer a moment after it was given: when to look again, in milliseconds. */
    private readonly pauses: readonly number[] = [200, 600, 1500],
  ) {
    super({ allowed: null, state: "allowed" });
  }

  note(allowed: Allowed): void {
    this.change({ allowed, state: "allowed" });
  }

  dismiss(): void {
    this.change({ allowed: null });
  }

  /** Takes the answer back: the call needs approval again. */
  async undo(): Promise<void> {
    const { allowed } = this.read();
    if (allowed === null) return;
    this.change({ state: "undoing" });
    try {
      const rule = await this.#find(allowed);
      if (rule !== undefined) await this.backend.undo(rule.id);
      this.change({ state: rule === undefined ? "failed" : "undone" });
    } catch {
      this.change({ state: "failed" });
    }
  }

  async #find(allowed: Allowed): Promise<RememberedAnswer | undefined> {
    for (const pause of [0, ...this.pauses]) {
      await new Promise((resolve) => setTimeout(resolve, pause));
      const rule = (await this.backend.list()).find((one) => isMeant(one, allowed));
      if (rule !== undefined) return rule;
    }
    return undefined;
  }
}

function isMeant(rule: RememberedAnswer, { sessionId, tool, args }: Allowed): boolean {
  if (rule.undoneAt !== null || rule.sessionId !== sessionId || rule.tool !== tool) return false;
  return args === undefined || sorted(rule.args) === sorted(args);
}

/** JSON with sorted keys, so that equal values have equal texts. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );
}
