/** The tokens of a turn or a run, as the inspector shows them. */

import type { Usage } from "@/protocol/events.gen";
import { formatCost, formatCount } from "@/text/format";
import type { Text } from "@/text/text";

/** Input and output first, then the parts of them that there are: cached, written to the cache, reasoning. */
export function tokensText(t: Text, usage: Partial<Usage>): string {
  const parts: Array<[number | undefined, (count: string) => string]> = [
    [usage.cached_tokens, t.cached],
    [usage.cache_write_tokens, t.cacheWritten],
    [usage.reasoning_tokens, t.reasoningTokens],
  ];
  const shown = parts.flatMap(([count, write]) => (count ? [write(formatCount(count))] : []));
  return [t.tokens(formatCount(usage.input_tokens ?? 0), formatCount(usage.output_tokens ?? 0)), ...shown].join(" · ");
}

/** The cost, if it is known. */
export function costText(usage: Partial<Usage>): string {
  return typeof usage.cost === "number" ? formatCost(usage.cost) : "";
}
