/**
 * Every panel in every variant, for a look after a change: `GALLERY=<folder> npm run pictures`. None of it is kept
 * in the repository.
 */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, test } from "vitest";
import { address, call, idle, loadChineseFont, openPage, type PageOptions, script, useBrowser } from "./harness";

useBrowser();

const FOLDER = process.env["GALLERY"] ?? "";

const DRESSES: Record<string, PageOptions> = {
  light: { width: 1280, height: 820 },
  dark: { width: 1280, height: 820, isDark: true },
  narrow: { width: 390, height: 844 },
  chinese: { width: 1280, height: 820, locale: "zh-CN" },
};

const MARKDOWN = [
  "## A dovetail drawer",
  "It holds by its **shape**, not by glue. Cut `1:8` for hardwood:",
  "1. Mark the tails first.\n2. Saw on the waste side.\n3. Test the fit *once*.",
  "| wood | slope | minutes |\n|---|---:|---:|\n| oak | 1:8 | 45 |\n| pine | 1:6 | 30 |",
  "```python\ndef slope(hardwood: bool) -> float:\n    return 1 / (8 if hardwood else 6)\n```",
  "The angle is $\\arctan(1/8) \\approx 7.1^\\circ$.",
].join("\n\n");

async function picture(page: Page, name: string): Promise<void> {
  await loadChineseFont(page);
  await page.evaluate(() => document.fonts.ready);
  await page.mouse.move(0, 0);
  await page.screenshot({ path: join(FOLDER, `${name}.png`), animations: "disabled" });
}

async function say(page: Page, text: string): Promise<void> {
  const field = page.getByRole("textbox", { name: /^(Message|消息)$/ });
  await field.fill(text);
  await field.press("Enter");
}

describe.runIf(FOLDER !== "" && address.script !== "")("the gallery", () => {
  test.each(Object.entries(DRESSES))("%s", { timeout: 300_000 }, async (dress, options) => {
    mkdirSync(FOLDER, { recursive: true });
    const page = await openPage(options);
    const take = (name: string) => picture(page, `${dress}-${name}`);
    await page.getByRole("heading", { level: 2 }).first().waitFor();
    await take("01-empty");

    await script(
      { when: "Plan a drawer", reasoning: "A plan.", tool_calls: [call("show", { what: "table" })] },
      { when: "dovetail", text: MARKDOWN, usage: { input_tokens: 812, output_tokens: 164 } },
      {
        when: "Note it",
        tool_calls: [call("scribe", { query: "write the plan" }), call("show", { what: "diff" })],
        usage: { input_tokens: 1204, output_tokens: 48 },
      },
      { when: "write the plan", tool_calls: [call("write_note", { name: "drawer", text: "Cut 1:8 for oak." })] },
      { when: "kept drawer", text: "The plan is written down." },
      { when: "slope 1:8", text: "The plan is kept as **drawer**.", usage: { input_tokens: 1390, output_tokens: 20 } },
    );
    await say(page, "Plan a drawer with dovetails, with times for oak and pine.");
    await idle(page);
    await page.locator("[data-tool-state=done]").first().getByRole("button").first().click();
    await page.getByRole("button", { name: /^(Thought process|思考过程)$/ }).click();
    await take("02-chat");

    await say(page, "Note it, please.");
    await page.locator("fieldset").waitFor();
    await take("03-sub-agent-asks");
    await page.getByRole("button", { name: /^(Allow|允许)$/ }).click();
    await idle(page);
    await page
      .locator("article")
      .last()
      .getByRole("button", { name: /^(Asked|调用)/ })
      .click();
    const closed = page.locator("article").last().locator("[data-tool-state=done] > div > button[aria-expanded=false]");
    for (let count = await closed.count(); count > 0; count--) await closed.first().click();
    await take("04-cards");

    await page
      .getByRole("button", { name: /^(Inspect this run|查看这次运行)$/ })
      .last()
      .click();
    await page
      .getByRole("tabpanel")
      .locator("dd")
      .getByText(/^(Done|完成)$/)
      .waitFor();
    await take("05-run");
    await page
      .getByRole("button", { name: /^(Prompt|提示)/ })
      .last()
      .click();
    await page
      .getByRole("button", { name: /^(Prompt|提示)/ })
      .last()
      .scrollIntoViewIfNeeded();
    await page
      .getByRole("tabpanel")
      .locator(".overflow-y-auto")
      .evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await take("06-prompt");
    for (const [place, name] of ["tools", "extensions", "agents", "skills", "schedules", "models"].entries()) {
      await page.locator(`#tab-${name}`).click();
      await page.getByRole("tabpanel").locator("li, form, p.text-faint").first().waitFor();
      await page.locator("#workbench-panel .animate-spin").waitFor({ state: "detached" });
      if (name === "tools") {
        await page.getByRole("tabpanel").getByRole("button", { name: /^Cut/ }).click();
        await page
          .getByRole("tabpanel")
          .getByRole("button", { name: /boards$/ })
          .click();
        await page.getByRole("tabpanel").getByRole("button", { name: /^Cut/ }).scrollIntoViewIfNeeded();
      }
      await take(`${String(place + 7).padStart(2, "0")}-${name}`);
    }
    await page
      .getByRole("button", { name: /^(Close the workbench|关闭工作台)$/ })
      .last()
      .click();
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").waitFor();
    await take("13-palette");
    await page.keyboard.press("Escape");
    if (options.width !== 390) {
      await page.getByRole("button", { name: /^(Agent|智能体): / }).click();
      await take("14-agents");
      await page.keyboard.press("Escape");
    } else {
      await page.getByRole("button", { name: "Open the list of chats", exact: true }).click();
      await take("15-list");
    }
  });
});
