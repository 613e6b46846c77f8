/** Questions of agents: forms in the answer, stored like approvals. */

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { answer, ask, call, countOf, idle, openPage, openTab, script, useBrowser } from "./harness";

useBrowser();

const QUESTIONS = [
  { question: "Which wood?", choices: [{ label: "Oak", description: "Heavy and strong" }, "Ash"] },
  { question: "Which tools?", choices: ["Saw", "Plane", "Chisel"], multiple: true, free_text: false },
  { question: "Anything else?" },
];
const asking = (when: string, questions: unknown[] = QUESTIONS) => ({
  when,
  tool_calls: [call("ask_user", { questions })],
});
const form = (page: Page) => page.getByRole("group", { name: "A question for you", exact: true });

test("questions are a form, and question and answer stay in the conversation", async () => {
  await script(asking("build a table"), { when: "→ Ash", text: "Ash it is." });
  const page = await openPage();
  await ask(page, "build a table");
  await form(page).getByText("Heavy and strong").waitFor();
  const send = form(page).getByRole("button", { name: "Answer", exact: true });
  expect(await send.isDisabled()).toBe(true);
  await page.reload();
  await form(page).getByRole("radio", { name: "Ash" }).check();
  await form(page).getByRole("checkbox", { name: "Chisel" }).check();
  await form(page).getByRole("checkbox", { name: "Saw" }).check();
  await form(page).getByRole("textbox", { name: "Anything else?" }).fill("Be quick");
  await send.click();
  await answer(page).getByText("Ash it is.").waitFor();
  await countOf(form(page), 0);
  const given = answer(page).locator("dl");
  for (const text of ["Ash", "Saw, Chisel", "Be quick"]) await given.getByText(text, { exact: true }).waitFor();
  await page.reload();
  await given.getByText("Saw, Chisel", { exact: true }).waitFor();
});

test("a question is answered by keyboard alone, or skipped", async () => {
  const one = [{ question: "How wide?", choices: ["10 cm", "20 cm"] }];
  await script(asking("how wide", one), { when: "→ 20 cm", text: "Twenty." }, asking("how deep", one), {
    when: "skipped the questions",
    text: "I will guess.",
  });
  const page = await openPage();
  await ask(page, "how wide");
  await form(page).waitFor();
  await form(page).getByRole("radio", { name: "10 cm" }).focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await answer(page).getByText("Twenty.").waitFor();
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("TEXTAREA");
  await idle(page);
  await ask(page, "how deep");
  await form(page).getByRole("button", { name: "Skip", exact: true }).press("Enter");
  await answer(page).getByText("I will guess.").waitFor();
  await answer(page).last().getByText("Skipped", { exact: true }).waitFor();
});

test("what was filled in stays over another chat and a reload, and Enter answers a single question", async () => {
  const one = [{ question: "Which colour?" }];
  await script(asking("paint it", one), { when: "→ dark\nred", text: "Red it is." });
  const page = await openPage();
  await ask(page, "paint it");
  const field = form(page).getByRole("textbox", { name: "Which colour?", exact: true });
  await field.fill("dark");
  await page.getByRole("button", { name: "New chat", exact: true }).first().click();
  await countOf(form(page), 0);
  await page.getByRole("button", { name: /^paint it/ }).click();
  await expect.poll(() => field.inputValue()).toBe("dark");
  await page.reload();
  await expect.poll(() => field.inputValue()).toBe("dark");
  await field.press("End");
  await field.press("Shift+Enter");
  await page.keyboard.type("red");
  await page.keyboard.press("Enter");
  await answer(page).getByText("Red it is.").waitFor();
  const kept = () => page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.includes("ask.")));
  await expect.poll(kept).toEqual([]);
});

test("a question that another tab has answered disappears from this one", async () => {
  await script(asking("pick one", [{ question: "Left or right?", choices: ["Left", "Right"] }]), {
    when: "→ Left",
    text: "Left.",
  });
  const page = await openPage();
  await ask(page, "pick one");
  await form(page).waitFor();
  const tab = await openTab(page, `/${new URL(page.url()).hash}`);
  await form(tab).getByRole("radio", { name: "Left" }).check();
  await form(tab).getByRole("button", { name: "Answer", exact: true }).click();
  for (const where of [tab, page]) {
    await answer(where).getByText("Left.", { exact: true }).waitFor();
    await countOf(form(where), 0);
  }
});

test("a sub-agent asks in its own lane", async () => {
  await script(
    { when: "have it noted", tool_calls: [call("scribe", { query: "note a herb" })] },
    asking("note a herb", [{ question: "Which herb?", choices: ["Mint", "Dill"] }]),
    { when: "→ Mint", text: "Mint, then." },
    { when: "Mint, then.", text: "It was mint." },
  );
  const page = await openPage();
  await ask(page, "have it noted");
  await form(page).getByText("Asked by scribe").waitFor();
  await form(page).getByRole("radio", { name: "Mint" }).check();
  await form(page).getByRole("button", { name: "Answer", exact: true }).click();
  await answer(page).getByText("It was mint.").waitFor();
});
