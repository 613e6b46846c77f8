/** Background tasks: their list, their questions, and the chats in which they work. */

import type { Page } from "playwright-core";
import { test } from "vitest";
import { address, answer, ask, call, countOf, idle, openPage, release, script, useBrowser } from "./harness";

useBrowser();

const tasks = (page: Page) => page.getByRole("region", { name: "Background tasks", exact: true });
const task = (page: Page, state: string) => tasks(page).getByRole("listitem", { name: `Scribe: ${state}` });

/** Starts the agent `scribe` in the background on a task. */
async function start(page: Page, query: string, ...replies: unknown[]): Promise<void> {
  await script(
    { when: `later: ${query}`, tool_calls: [call("scribe", { query, background: true })] },
    { when: "in the background", text: "It is under way." },
    ...replies,
  );
  await ask(page, `later: ${query}`);
  await answer(page).getByText("It is under way.").waitFor();
  await idle(page);
}

const sessionOf = (page: Page) => new URL(page.url()).hash.split("/")[2];
const openList = (page: Page) =>
  tasks(page)
    .getByRole("button", { name: /^Background tasks/ })
    .click();

test("a task's question is answered in the chat that started it, and its chat can be opened", async () => {
  const page = await openPage();
  await start(
    page,
    "jot down mint",
    { when: "jot down mint", tool_calls: [call("write_note", { name: "herbs", text: "mint" })] },
    { when: "kept herbs: mint", text: "Mint is jotted down." },
  );
  // The list was not opened by hand: the question opens it.
  const asked = task(page, "Waiting for you");
  await asked.getByText(/Asked by .*Scribe/).waitFor();
  await asked.getByText("mint", { exact: true }).waitFor();
  await asked.getByRole("button", { name: "Allow", exact: true }).click();
  await tasks(page).getByText("1 ended").waitFor();
  await countOf(tasks(page).getByRole("button", { name: "Allow", exact: true }), 0);

  const card = answer(page).locator("[data-tool-state=done]");
  await card.getByText("→ Done").waitFor();
  await card.getByRole("button").first().click();
  await card.getByText("Done", { exact: true }).waitFor();
  await card.getByRole("button", { name: /^Open the task of Scribe/ }).click();
  await answer(page).getByText("Mint is jotted down.").waitFor();
  const origin = page.getByRole("navigation", { name: "Where this chat comes from", exact: true });
  await origin.getByText("Background task of Scribe").waitFor();
  await origin.getByRole("button", { name: "Back to the chat", exact: true }).click();
  await answer(page).getByText("It is under way.").waitFor();
});

test("a task that has ended continues with a message, and the next answer begins with notices", async () => {
  const page = await openPage();
  await start(page, "list the trees", { when: "list the trees", steps: ["Oak", { hold: "oak" }, " and ash."] });
  await release("oak");
  await tasks(page).getByText("1 ended").waitFor();
  await openList(page);
  await script({ when: "and the shrubs", steps: ["Hazel", { hold: "hazel" }, " and elder."] });
  await task(page, "Done").getByRole("button", { name: "Have Scribe continue", exact: true }).click();
  await page.getByRole("textbox", { name: "Have Scribe continue", exact: true }).fill("and the shrubs");
  await page.keyboard.press("Enter");
  await task(page, "Working").waitFor();
  await task(page, "Working")
    .getByRole("button", { name: /^Open: Scribe/ })
    .click();
  await answer(page).getByText("Hazel").waitFor();
  await release("hazel");
  await answer(page).getByText("Hazel and elder.").waitFor();
  await page.goBack();
  await tasks(page).getByText("1 ended").waitFor();

  // The notice of the newest end is the last thing that the model reads.
  await script({ when: "Hazel and elder.", text: "Trees and shrubs are listed." });
  await ask(page, "and now?");
  await answer(page).getByText("Trees and shrubs are listed.").waitFor();
  await answer(page).getByText("The background task of Scribe has ended.").first().waitFor();
  await page.reload();
  await answer(page).getByText("The background task of Scribe has ended.").first().waitFor();
});

test("a task is stopped from the list, which is there after a reload", async () => {
  const page = await openPage();
  await start(page, "never stop", { when: "never stop", steps: ["On", { hold: "on" }, " and on."] });
  await script({ when: "something else", text: "Something else, then." });
  await ask(page, "something else");
  await answer(page).getByText("Something else, then.").waitFor();
  await page.reload();
  await tasks(page).getByText("1 working").waitFor();
  await openList(page);
  await task(page, "Working").getByRole("button", { name: "Stop Scribe", exact: true }).click();
  await task(page, "Stopped").waitFor();
  await release("on");
});

test("what a task of a task asks is answered in the first chat", async () => {
  const page = await openPage();
  await start(page, "gather herbs", { when: "gather herbs", steps: ["Gathering", { hold: "herbs" }, "."] });
  const { children } = await (await fetch(`${address.url}/api/v1/sessions/${sessionOf(page)}/children`)).json();
  await script(
    { when: "deeper still", tool_calls: [call("write_note", { name: "herbs", text: "rue" })] },
    { when: "kept herbs: rue", text: "Rue is noted." },
  );
  await fetch(`${address.url}/api/v1/chat`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ message: "deeper still", session_id: children[0].session_id, background: true }),
  });
  await tasks(page).getByRole("button", { name: "Allow", exact: true }).click();
  await countOf(tasks(page).getByRole("button", { name: "Allow", exact: true }), 0);
  await release("herbs");
});
