/** Answers and sessions made to break the page: it shows what it can and stays usable. */

import { expect, test } from "vitest";
import { address, answer, ask, composer, idle, openPage, script, useBrowser } from "./harness";

useBrowser();

const HOSTILE: Record<string, string> = {
  "nested quotes": ">".repeat(3000),
  "nested lists": "1. ".repeat(2000),
  "nested list items": "- ".repeat(1000),
  "nested emphasis": `${"*a **b ".repeat(600)}`,
  "nested links": "[".repeat(3000),
  "a formula of braces": `$$${"{".repeat(3000)}x${"}".repeat(3000)}$$`,
  "a formula of fractions": `$$${"\\frac{1}{".repeat(600)}x${"}".repeat(600)}$$`,
};

for (const [title, text] of Object.entries(HOSTILE)) {
  test(`${title}: the page stays usable, also when it is opened again`, async () => {
    await script({ when: "hostile please", text: `${text}\n\nThe end.` }, { when: "and now", text: "Still here." });
    const page = await openPage();
    await ask(page, "hostile please");
    await answer(page).getByText("The end.").first().waitFor();
    await page.reload();
    await answer(page).getByText("The end.").first().waitFor();
    await idle(page);
    await ask(page, "and now");
    await answer(page).last().getByText("Still here.").waitFor();
  });
}

const WRONG_PARTS: unknown[] = [
  { type: "dynamic-tool" },
  { type: "dynamic-tool", toolName: 7, toolCallId: null, state: "output-available" },
  { type: "tool-x", state: "approval-requested" },
  { type: "reasoning" },
  { type: "text", text: { a: 1 } },
  { type: "file" },
  { type: "file", mediaType: 3, url: 4 },
  { type: "data-subagent", data: "x" },
  { type: "data-skill", data: 5 },
];

test("a stored message with malformed parts does not break the page", async () => {
  const page = await openPage({ path: "/", expected: /./ });
  await composer(page).waitFor();
  // The server refuses to store such parts, so the response is faked.
  await page.route("**/api/v1/sessions/broken?*", (route) =>
    route.fulfill({
      json: {
        session: { id: "broken", title: "Broken", head: "b", run_id: null, version: 1 },
        path: [
          { id: "a", role: "user", parts: [{ type: "text", text: "Hello" }], metadata: {} },
          { id: "b", role: "assistant", parts: [...WRONG_PARTS, { type: "text", text: "The end." }], metadata: {} },
        ],
      },
    }),
  );
  await page.goto(`${address.url}/#/s/broken`);
  await answer(page).getByText("The end.").waitFor();
  expect(await composer(page).isVisible()).toBe(true);
});
