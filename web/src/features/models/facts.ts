/** A model's price and context window, as far as the server knows them. */

import type { ModelInfo } from "@/protocol/model";
import { formatCount, formatPrice } from "@/text/format";
import type { Text } from "@/text/text";

export function factsText(t: Text, model: Pick<ModelInfo, "price" | "window">): string {
  const { price, window } = model;
  const facts: string[] = [];
  if (price) {
    const isFree = price.input === 0 && price.output === 0;
    facts.push(isFree ? t.modelFree : t.modelPrice(formatPrice(price.input), formatPrice(price.output)));
  }
  if (window) facts.push(t.modelWindow(formatCount(window)));
  return facts.join(" · ");
}
