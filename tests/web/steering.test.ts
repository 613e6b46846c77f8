/** Messages during an answer: taken into its next turn, or answered after it. */

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import {
  answer,
  ask,
  call,
  callTool,
  composer,
  countOf,
  idle,
  openPage,
  openTab,
  release,
  requestAbout,
  script,
  useBrowser,
} from "./harness";

useBrowser();

const pending = (page: Page) => page.getByRole("list", { name: "Messages waiting to be read", exact: true });
const questions = (page: Page) => page.getByRole("article", { name: "You", exact: true });
const steered = (page: Page) => answer(page).getByRole("group", { name: "You, during the answer", exact: true });

/** The texts of an answer from top to bottom. */
async function order(page: Page, texts: string[]): Promise<string[]> {
  const content = (await answer(page).first().textContent()) ?? "";
  return [...texts].sort((one, other) => content.indexOf(one) - content.indexOf(other));
}

test("a message during an answer is read in its next turn and shown there, also after a reload", async () => {
  await script(
    { when: "count for me", text: "I count.", tool_calls: [call("count_up", { gate: "rhyme" })] },
    { when: "add a rhyme", text: "Three, and you are free." },
  );
  const page = await openPage();
  await ask(page, "count for me");
  await answer(page).locator("[data-tool-state=running]").waitFor();
  await ask(page, "add a rhyme");
  await pending(page).getByRole("listitem").getByText("Next turn").waitFor();
  await pending(page).getByText("add a rhyme").waitFor();
  expect(await composer(page).inputValue()).toBe("");
  await callTool("open_gate", { gate: "rhyme" });
  await answer(page).getByText("Three, and you are free.").waitFor();
  await idle(page);
  await countOf(pending(page), 0);
  const texts = ["I count.", "add a rhyme", "Three, and you are free."];
  expect(await order(page, texts)).toEqual(texts);

  await page.reload();
  await steered(page).getByText("add a rhyme").waitFor();
  expect(await order(page, texts)).toEqual(texts);
  await countOf(questions(page), 1);
  await countOf(answer(page), 1);
});

test("a question with Alt+Enter waits, and the page follows its answer by itself", async () => {
  await script(
    { when: "the first", steps: ["One", { hold: "first" }, " is done."] },
    { when: "the second", steps: ["Two", { hold: "second" }, " is done."] },
    { when: "the third", text: "Three is done." },
  );
  const page = await openPage();
  await ask(page, "the first");
  await answer(page).getByText("One").waitFor();
  for (const text of ["the second", "the third"]) {
    await composer(page).fill(text);
    await composer(page).press("Alt+Enter");
    await pending(page).getByText(text).waitFor();
  }
  await countOf(pending(page).getByText("After this answer"), 2);
  await release("first");
  await answer(page).getByText("Two").waitFor();
  await countOf(pending(page).getByRole("listitem"), 1);
  await page.getByRole("button", { name: "Stop", exact: true }).waitFor();
  await release("second");
  await answer(page).getByText("Three is done.").waitFor();
  await idle(page);
  await countOf(questions(page), 3);
  await countOf(answer(page), 3);
  await countOf(pending(page), 0);
});

test("the menu chooses when a message is read, with the keyboard too", async () => {
  await script(
    { when: "a long one", steps: ["Long", { hold: "long" }, " enough."] },
    { when: "a short one", text: "Short." },
  );
  const page = await openPage();
  await ask(page, "a long one");
  await answer(page).getByText("Long").waitFor();
  await composer(page).fill("a short one");
  await page.getByRole("button", { name: "When to send", exact: true }).press("Enter");
  await page.getByRole("menuitem", { name: /^Send into this answer/ }).press("ArrowDown");
  await page.getByRole("menuitem", { name: /^Answer after this one/ }).press("Enter");
  await pending(page).getByText("After this answer").waitFor();
  expect(await composer(page).evaluate((field) => field === document.activeElement)).toBe(true);
  await release("long");
  await answer(page).getByText("Short.").waitFor();
});

test("a message that was taken back is never read", async () => {
  await script(
    { when: "wait for me", tool_calls: [call("count_up", { gate: "back" })] },
    { when: "counted to 3", text: "Counted." },
  );
  const page = await openPage();
  await ask(page, "wait for me");
  await answer(page).locator("[data-tool-state=running]").waitFor();
  await ask(page, "forget this");
  const isTakenBack = page.waitForResponse((response) => response.request().method() === "DELETE");
  await page.getByRole("button", { name: "Take back “forget this”", exact: true }).click();
  await countOf(pending(page), 0);
  await isTakenBack;
  await callTool("open_gate", { gate: "back" });
  await answer(page).getByText("Counted.").waitFor();
  await idle(page);
  expect(await requestAbout("counted to 3")).not.toContain("forget this");
  await countOf(steered(page), 0);
});

test("a message that reaches the server after the answer has ended is answered on its own", async () => {
  await script(
    { when: "quick one", steps: ["Quick", { hold: "quick" }, " as that."] },
    { when: "too late", text: "Never too late." },
  );
  const page = await openPage();
  await ask(page, "quick one");
  await answer(page).getByText("Quick").waitFor();
  let deliver = () => {};
  const isDelivered = new Promise<void>((resolve) => {
    deliver = resolve;
  });
  await page.route("**/messages", async (route) => {
    await isDelivered;
    await route.continue();
  });
  await ask(page, "too late");
  await pending(page).getByText("too late").waitFor();
  await release("quick");
  await idle(page);
  deliver();
  await answer(page).getByText("Never too late.").waitFor();
  await idle(page);
  await countOf(questions(page), 2);
  await countOf(pending(page), 0);
});

test("a message that cannot be sent returns to the field", async () => {
  await script({ when: "lonely", steps: ["Alone", { hold: "alone" }, "."] });
  const page = await openPage({ expected: /ERR_FAILED/ });
  await ask(page, "lonely");
  await answer(page).getByText("Alone").waitFor();
  await page.route("**/messages", (route) => route.abort());
  await ask(page, "hear me");
  await page.getByRole("alert").getByText("Cannot reach the server.").waitFor();
  expect(await composer(page).inputValue()).toBe("hear me");
  await countOf(pending(page), 0);
  await release("alone");
  await idle(page);
});

test("another tab sees what waits, and the message at its place", async () => {
  await script(
    { when: "two tabs", tool_calls: [call("count_up", { gate: "tabs" })] },
    { when: "from the first tab", text: "Both see it." },
  );
  const page = await openPage();
  await ask(page, "two tabs");
  await answer(page).locator("[data-tool-state=running]").waitFor();
  await ask(page, "from the first tab");
  await pending(page).getByText("from the first tab").waitFor();
  const tab = await openTab(page, `/${new URL(page.url()).hash}`);
  await pending(tab).getByText("from the first tab").waitFor();
  await callTool("open_gate", { gate: "tabs" });
  await steered(tab).getByText("from the first tab").waitFor();
  await answer(tab).getByText("Both see it.").waitFor();
  await countOf(pending(tab), 0);
});
