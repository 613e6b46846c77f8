/** Sub-agents: their own line of work inside the step of their call, live and after a reload. */

import { expect, test } from "vitest";
import { answer, ask, call, countOf, openPage, release, script, useBrowser } from "./harness";

useBrowser();

test("a sub-agent's text streams into the card of its call, and is there after a reload", async () => {
  await script(
    { when: "sum up the saga", tool_calls: [call("summarizer", { text: "The saga of Njal" })] },
    { when: "The saga of Njal", steps: ["A feud", { hold: "saga" }, " that ends in fire."] },
    { when: "A feud that ends in fire.", text: "In short: fire." },
  );
  const page = await openPage();
  await ask(page, "sum up the saga");
  const card = answer(page).locator("[data-tool-state]");
  const transcript = card.getByRole("region", { name: /^Summarizer/ });
  // It is open while the agent works, and folds to its result.
  await transcript.getByText("A feud").waitFor();
  await release("saga");
  await answer(page).getByText("In short: fire.").waitFor();
  await countOf(transcript, 0);
  await card.getByText("→ A feud that ends in fire.").waitFor();

  await page.reload();
  await card.getByRole("button", { name: /Summarizer/ }).click();
  await transcript.getByText("A feud that ends in fire.").waitFor();
  await countOf(card, 1);
});

test("the inspector shows a sub-agent below its call", async () => {
  await script(
    { when: "sum up the edda", tool_calls: [call("summarizer", { text: "The elder edda" })] },
    { when: "The elder edda", text: "Gods and their end." },
    { when: "Gods and their end.", text: "Gods, then an end." },
  );
  const page = await openPage();
  await ask(page, "sum up the edda");
  await answer(page).getByText("Gods, then an end.").waitFor();
  await answer(page).hover();
  await page.getByRole("button", { name: "Inspect this run", exact: true }).click();
  const rows = page.getByRole("tabpanel").getByRole("listitem");
  await rows.filter({ hasText: "Gods and their end." }).first().waitFor();
  await countOf(rows.filter({ hasText: "summarizer" }), 2);
});

test("a sub-agent's question is answered in its card while another sub-agent still works", async () => {
  await script(
    {
      when: "note and sum up",
      tool_calls: [call("scribe", { query: "write down mint" }), call("summarizer", { text: "The tale of Gisli" })],
    },
    { when: "write down mint", tool_calls: [call("write_note", { name: "herbs", text: "mint" })] },
    { when: "kept herbs: mint", text: "Mint is written down." },
    { when: "The tale of Gisli", steps: ["An outlaw", { hold: "gisli" }, " and his dream."] },
    { when: "Mint is written down.", text: "Both done." },
    { when: "An outlaw and his dream.", text: "Both done." },
  );
  const page = await openPage();
  await ask(page, "note and sum up");
  const scribe = answer(page).locator("[data-tool-state]", {
    has: page.getByRole("group", { name: /^Scribe: / }),
  });
  const summarizer = answer(page).locator("[data-tool-state]", {
    has: page.getByRole("group", { name: /^Summarizer: / }),
  });
  // The card was not opened by hand: the ask opens it.
  await scribe.getByText("Asked by Scribe").waitFor();
  await summarizer.getByText("An outlaw").waitFor();
  const [left, right] = [await scribe.boundingBox(), await summarizer.boundingBox()];
  expect(left?.y).toBe(right?.y);
  await scribe.getByRole("button", { name: "Allow", exact: true }).click();
  await scribe.and(page.locator("[data-tool-state=done]")).waitFor();
  await summarizer.and(page.locator("[data-tool-state=running]")).waitFor();
  await release("gisli");
  await answer(page).getByText("Both done.").waitFor();
  await answer(page)
    .getByRole("button", { name: /^Asked 2 agents/ })
    .click();
  await scribe.getByText("→ Mint is written down.").waitFor();
});
