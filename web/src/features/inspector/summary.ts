/** The key figures of a run, as far as they are known. */

import type { Usage } from "@/protocol/events.gen";
import type { Runs, TurnDetail } from "@/protocol/run";

export interface RunSummary {
  agent: string;
  model: string;
  /** How the run ended; null while it lasts. */
  reason: string | null;
  /** The limit that it reached, in words. */
  notice: string | null;
  seconds: number;
  turns: number;
  calls: number;
  usage: Usage;
}

const NO_USAGE: Usage = {
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  cost: null,
};

/** The figures of the first run, including the calls and tokens of its children; null before it has begun. */
export function summarize(runs: Runs): RunSummary | null {
  const all = Object.values(runs);
  const [root] = all;
  if (root === undefined) return null;
  const calls = all.flatMap((run) => run.steps).filter((step) => step.kind === "tool");
  return {
    agent: root.agent,
    model: root.model,
    reason: root.outcome?.reason ?? null,
    notice: root.outcome?.notice ?? null,
    seconds: Math.max(...all.map((run) => run.seen)) - root.start,
    turns: usagesOf([root]).length,
    calls: calls.filter(({ part }) => part !== null && "state" in part && part.state !== "input-streaming").length,
    usage: root.outcome?.usage ?? usagesOf(all).reduce(addUsage, NO_USAGE),
  };
}

/** The usage of each turn that has ended. */
function usagesOf(runs: Runs[string][]): Usage[] {
  const turns = runs.flatMap((run) => run.steps).filter((step) => step.kind === "turn");
  return turns.map((turn) => (turn.detail as TurnDetail).usage).filter((usage) => usage !== undefined);
}

function addUsage(one: Usage, other: Usage): Usage {
  return {
    input_tokens: one.input_tokens + other.input_tokens,
    output_tokens: one.output_tokens + other.output_tokens,
    cached_tokens: one.cached_tokens + other.cached_tokens,
    cache_write_tokens: one.cache_write_tokens + other.cache_write_tokens,
    reasoning_tokens: one.reasoning_tokens + other.reasoning_tokens,
    cost: one.cost === null && other.cost === null ? null : (one.cost ?? 0) + (other.cost ?? 0),
  };
}
