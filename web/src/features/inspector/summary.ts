/** What a run was and what it took, as far as it is known. */

import type { Usage } from "@/protocol/events.gen";

export interface RunSummary {
  agent: string;
  model: string;
  reason: string | null;
  error: unknown;
  seconds: number;
  turns: number;
  calls: number;
  usage: Usage;
  isOver: boolean;
}

export const NO_USAGE: Usage = { input_tokens: 0, output_tokens: 0, cached_tokens: 0, reasoning_tokens: 0, cost: null };

export function addUsage(one: Usage, other: Usage): Usage {
  return {
    input_tokens: one.input_tokens + other.input_tokens,
    output_tokens: one.output_tokens + other.output_tokens,
    cached_tokens: one.cached_tokens + other.cached_tokens,
    reasoning_tokens: one.reasoning_tokens + other.reasoning_tokens,
    cost: one.cost === null && other.cost === null ? null : (one.cost ?? 0) + (other.cost ?? 0),
  };
}
