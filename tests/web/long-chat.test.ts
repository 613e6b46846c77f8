/** A long chat: it opens at its end, remembers the scroll position, and leads back to the newest message. */

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { answer, ask, countOf, fillChat, openPage, script, useBrowser } from "./harness";

useBrowser();

const QUESTIONS = 40;
const isInSight = (page: Page, text: string) =>
  page
    .getByRole("article", { name: "You", exact: true })
    .filter({ hasText: text })
    .evaluate((element) => {
      const { top, bottom } = element.getBoundingClientRect();
      return top < innerHeight && bottom > 0;
    });

test("a long chat opens at its end, remembers the scroll position, and leads back to the newest message", async () => {
  const page = await openPage({ path: await fillChat(QUESTIONS) });
  await answer(page).last().waitFor();
  await expect.poll(() => isInSight(page, `filler ${QUESTIONS}`)).toBe(true);

  const middle = page.getByRole("article", { name: "You", exact: true }).filter({ hasText: /^filler 30$/ });
  await middle.evaluate((element) => element.scrollIntoView({ block: "start" }));
  const newest = page.getByRole("button", { name: "Go to the newest message", exact: true });
  await newest.waitFor();
  const top = () => middle.evaluate((element) => Math.round(element.getBoundingClientRect().top));
  await expect.poll(top).toBeLessThan(200);
  const before = await top();

  await script({ when: "something else", text: "Here." });
  await page.getByRole("button", { name: "New chat", exact: true }).first().click();
  await ask(page, "something else");
  await answer(page).getByText("Here.").waitFor();
  await page.getByRole("navigation").getByRole("button", { name: "filler 1", exact: true }).click();
  await expect.poll(async () => Math.abs((await top()) - before)).toBeLessThan(40);

  await newest.click();
  await expect.poll(() => isInSight(page, `filler ${QUESTIONS}`)).toBe(true);
  await newest.waitFor({ state: "detached" });
});

const question = (page: Page, number: number) =>
  page.getByRole("article", { name: "You", exact: true }).filter({ hasText: new RegExp(`^filler ${number}$`) });
const column = (page: Page) => page.getByRole("main").locator(".overflow-y-auto").first();

test("a very long chat loads its end, and older messages when the reader scrolls up", async () => {
  const page = await openPage({ path: await fillChat(300) });
  await expect.poll(() => isInSight(page, "filler 300")).toBe(true);
  expect(await question(page, 200).count()).toBe(0);

  const first = page.locator("[data-message]").first();
  const before = await first.getAttribute("data-message");
  const known = page.locator(`[data-message="${before}"]`);
  await first.scrollIntoViewIfNeeded();
  const top = () => known.evaluate((element) => Math.round(element.getBoundingClientRect().top));
  await expect.poll(() => first.getAttribute("data-message")).not.toBe(before);
  const isInPlace = () => top().then((place) => place > 0 && place < 820); // the list may still move
  await expect.poll(isInPlace).toBe(true);

  const toTop = () => column(page).evaluate((element) => element.scrollTo(0, 0));
  await expect.poll(() => toTop().then(() => question(page, 1).count())).toBe(1);
  await expect.poll(() => question(page, 1).isVisible()).toBe(true);
  await countOf(page.getByRole("button", { name: "Show older messages", exact: true }), 0);
  await countOf(page.locator("[data-message]"), 600);
});

test("an address leads to an old message of a very long chat, which continues up to its end", async () => {
  const path = await fillChat(300);
  const page = await openPage({ path: `${path}/q20` });
  await question(page, 20).waitFor();
  await expect.poll(() => isInSight(page, "filler 20")).toBe(true);
  expect(await question(page, 200).count()).toBe(0);
  expect(await question(page, 300).count()).toBe(0);
  await column(page).focus();
  for (let step = 0; (await question(page, 60).count()) === 0 && step < 30; step++)
    await page.keyboard.press("PageDown");
  await page.getByRole("button", { name: "Go to the newest message", exact: true }).click();
  await expect.poll(() => isInSight(page, "filler 300")).toBe(true);
  expect(await question(page, 20).count()).toBe(0);
});

test("an old question of a very long chat is edited in its place", async () => {
  const page = await openPage({ path: `${await fillChat(300)}/q20` });
  await question(page, 20).hover();
  await question(page, 20).getByRole("button", { name: "Edit", exact: true }).click();
  await script({ when: "filler changed", text: "Another answer." });
  await page.getByRole("textbox", { name: "Edit", exact: true }).fill("filler changed");
  await page.keyboard.press("Enter");
  await answer(page).getByText("Another answer.").waitFor();
  await page.getByRole("button", { name: "Send", exact: true }).waitFor();
  await expect.poll(() => question(page, 19).count()).toBe(1);
  await countOf(question(page, 21), 0);
  await countOf(answer(page).getByText("Another answer."), 1);
  await page.getByRole("button", { name: "Previous version", exact: true }).last().click();
  await question(page, 21).waitFor();
  const { head } = await (await fetch(page.url().replace("/#/s/", "/api/v1/sessions/").replace("/q20", ""))).json();
  expect(head).toBe("a300");
});

test("messages out of sight are not rendered", async () => {
  const page = await openPage({ path: await fillChat(QUESTIONS) });
  await answer(page).last().waitFor();
  const drawn = () =>
    page.getByRole("article").evaluateAll((all) => {
      const isDrawn = (element: Element) => element.firstElementChild?.checkVisibility({ contentVisibilityAuto: true });
      return all.filter(isDrawn).length;
    });
  await expect.poll(drawn).toBeLessThan(QUESTIONS);
  expect(await drawn()).toBeGreaterThan(0);
});
