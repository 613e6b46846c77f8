/**
 * The screenshots in the documentation, taken from the real page: `npm run pictures`. Those of the chat show a real model's
 * answer: start `dovetail serve` and run `DOVETAIL_URL=http://127.0.0.1:8000 npm run pictures`.
 */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, test } from "vitest";
import { address, answer, ask, call, loadChineseFont, openPage, script, useBrowser } from "./harness";

useBrowser();

const FOLDER = join(import.meta.dirname, "..", "..", "docs", "images");
const HAS_MODEL = address.script === "";
const PATIENCE = 600_000;
const SIZE = { width: 1200, height: 720, scale: 2 };

beforeAll(() => mkdirSync(FOLDER, { recursive: true }));

async function take(page: Page, name: string): Promise<void> {
  await loadChineseFont(page);
  await page.evaluate(() => {
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    return document.fonts.ready;
  });
  await page.mouse.move(0, 0);
  await page.screenshot({ path: join(FOLDER, `${name}.png`), animations: "disabled" });
}

async function goDark(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: "dark" });
  await page.locator("html[data-theme=dark]").waitFor({ state: "attached" });
}

test.runIf(HAS_MODEL)("the chat, light and dark", { timeout: PATIENCE }, async () => {
  for (const title of ["Plan a drawer with dovetails", "Compare three wood glues", "燕尾榫和指接榫的区别"]) {
    const body = JSON.stringify({ title });
    await fetch(`${address.url}/api/v1/sessions`, {
      method: "POST",
      body,
      headers: { "content-type": "application/json" },
    });
  }
  const page = await openPage(SIZE);
  await ask(page, "What is 127 * 49?");
  await answer(page).waitFor({ timeout: PATIENCE });
  await page.getByRole("button", { name: "Send", exact: true }).waitFor({ timeout: PATIENCE });
  await answer(page).locator("[data-tool-state=done]").getByRole("button").first().click();
  await take(page, "chat");
  await goDark(page);
  await take(page, "chat-dark");
});

test.skipIf(HAS_MODEL)("an approval, and the run next to the chat", async () => {
  await script(
    {
      when: "my slope",
      tool_calls: [call("write_note", { name: "slope", text: "1:8 for hardwood" })],
      usage: { input_tokens: 386, output_tokens: 31 },
    },
    {
      when: "kept slope",
      tool_calls: [call("calculate", { expression: "22 / 8" })],
      usage: { input_tokens: 441, output_tokens: 22 },
    },
    {
      when: "2.75",
      text: "Noted. Over a board of 22 mm a slope of 1:8 is **2.75 mm**.",
      usage: { input_tokens: 480, output_tokens: 34 },
    },
  );
  const page = await openPage(SIZE);
  await ask(page, "Keep my slope for hardwood in a note. How much is it over 22 mm?");
  await page.getByRole("button", { name: "Allow", exact: true }).waitFor();
  await take(page, "approval");
  await page.getByRole("button", { name: "Allow", exact: true }).click();
  await answer(page).getByText("Noted.").waitFor();
  await page.getByRole("button", { name: "Send", exact: true }).waitFor();
  await answer(page).hover();
  await page.getByRole("button", { name: "Inspect this run", exact: true }).click();
  const panel = page.getByRole("tabpanel");
  await panel.locator("dd").getByText("Done").waitFor();
  const prompt = panel.getByRole("button", { name: /^Prompt/ }).nth(1);
  await prompt.click();
  await prompt.evaluate((element) => element.closest("li")?.previousElementSibling?.scrollIntoView({ block: "start" }));
  await take(page, "inspector");
});

test.skipIf(HAS_MODEL)("a phone, in Chinese and dark", async () => {
  await script({
    when: "燕尾榫",
    text: "燕尾榫靠**形状**锁住木板，不靠胶水。\n\n1. 先画燕尾，再画插榫。\n2. 软木坡度取 1:6，硬木取 1:8。\n3. 只试装一次：每拆一次，接缝就松一分。",
  });
  const page = await openPage({ width: 390, height: 760, scale: 2, isDark: true, locale: "zh-CN" });
  const field = page.getByRole("textbox", { name: "消息", exact: true });
  await field.fill("用三句话解释燕尾榫。");
  await field.press("Enter");
  await page.getByRole("article", { name: "助手", exact: true }).getByText("只试装一次").waitFor();
  await page.getByRole("button", { name: "发送", exact: true }).waitFor();
  await take(page, "phone");
});
