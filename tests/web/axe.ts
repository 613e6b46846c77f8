/** The accessibility checker. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const require = createRequire(import.meta.url);
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/** Waits for animations: a text that fades in has little contrast at first; a cancelled animation never finishes. */
async function settleAnimations(): Promise<void> {
  await Promise.allSettled(document.getAnimations().map((animation) => animation.finished));
}

/** The serious findings of the accessibility checker. */
export async function findings(page: Page): Promise<string[]> {
  await page.locator("[role=status] .animate-spin").waitFor({ state: "detached" });
  await page.evaluate(settleAnimations);
  await page.evaluate(axe);
  return page.evaluate(async () => {
    // @ts-expect-error axe was just added to the page
    const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
    return violations
      .filter((found: { impact: string }) => found.impact === "serious" || found.impact === "critical")
      .map((found: { id: string; nodes: Array<{ html: string }> }) => `${found.id}: ${found.nodes[0]?.html}`);
  });
}
