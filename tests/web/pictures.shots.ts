/** The pictures in the documentation, taken of the real page: `npm run pictures`. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, test } from "vitest";
import { answer, ask, call, loadChineseFont, openPage, type PageOptions, script, useBrowser } from "./harness";

useBrowser();

const FOLDER = join(import.meta.dirname, "..", "..", "docs", "images");
const EARLIER = ["Plan a drawer with dovetails", "Compare three wood glues", "燕尾榫和指接榫的区别"];
const ANSWER = `**127 × 49 = 6223**

A way to see it without a calculator: 127 × 50 is 6350, and one 127 less is 6223.`;

beforeAll(() => mkdirSync(FOLDER, { recursive: true }));

async function take(page: Page, name: string): Promise<void> {
  await loadChineseFont(page);
  await page.evaluate(() => document.fonts.ready);
  await page.mouse.move(0, 0);
  await page.screenshot({ path: join(FOLDER, `${name}.png`), animations: "disabled" });
}

async function chat(options: PageOptions): Promise<Page> {
  const page = await openPage({ width: 1200, height: 720, scale: 2, ...options });
  for (const title of EARLIER) {
    await script({ when: title, text: "Gladly." });
    await ask(page, title);
    await answer(page).getByText("Gladly.").waitFor();
    await page.getByRole("button", { name: "Send" }).waitFor();
    await page.keyboard.press("Control+Shift+O");
    await answer(page).waitFor({ state: "detached" });
  }
  await script(
    {
      when: "127 * 49",
      tool_calls: [call("calculate", { expression: "127 * 49" })],
      usage: { input_tokens: 386, output_tokens: 22 },
    },
    { when: "6223", text: ANSWER, usage: { input_tokens: 421, output_tokens: 61 } },
  );
  await ask(page, "What is 127 * 49?");
  await answer(page).getByText("A way to see it").waitFor();
  await page.getByRole("button", { name: "Send" }).waitFor();
  await answer(page).locator("[data-tool-state=done]").getByRole("button").first().click();
  return page;
}

test("the chat, light and dark", async () => {
  const page = await chat({});
  await take(page, "chat");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.locator("html[data-theme=dark]").waitFor({ state: "attached" });
  await take(page, "chat-dark");
});
