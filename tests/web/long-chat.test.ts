/** A long chat: it opens at its end, remembers the scroll position, and leads back to the newest message. */

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { answer, ask, fillChat, openPage, script, useBrowser } from "./harness";

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

  const middle = page.getByRole("article", { name: "You", exact: true }).filter({ hasText: /^filler 20$/ });
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
