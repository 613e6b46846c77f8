/** How the page looks and whom it serves: dark, narrow, Chinese, screen readers. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { answer, ask, call, composer, loadChineseFont, openPage, script, useBrowser } from "./harness";

useBrowser();

const require = createRequire(import.meta.url);
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/** The serious findings of the accessibility checker, as short texts. */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate(async () => {
    // @ts-expect-error axe was just put into the page
    const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
    return violations
      .filter((found: { impact: string }) => found.impact === "serious" || found.impact === "critical")
      .map((found: { id: string; nodes: Array<{ html: string }> }) => `${found.id}: ${found.nodes[0]?.html}`);
  });
}

async function fullChat(page: Page): Promise<void> {
  await script(
    { when: "show all", reasoning: "Hm.", tool_calls: [call("calculate", { expression: "1 + 1" })] },
    {
      when: "2",
      text: "# Sum\n\nIt is `2`.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\nx = 1\n```\n\n- [x] done",
    },
  );
  await ask(page, "show all");
  await answer(page).getByRole("heading", { name: "Sum" }).waitFor();
  await page.getByRole("button", { name: /^(Send|发送)$/ }).waitFor();
}

test.each([
  ["light", false],
  ["dark", true],
])("nothing serious is found by the accessibility checker in %s", async (_, isDark) => {
  const page = await openPage({ isDark });
  expect(await findings(page)).toEqual([]);
  await fullChat(page);
  await page.getByRole("button", { name: /^Calculate/ }).click();
  await page.getByRole("button", { name: "Open the workbench" }).click();
  for (const name of ["Tools", "Extensions", "Agents", "Skills", "Models", "Run"]) {
    await page.getByRole("tab", { name }).click();
    await page.getByRole("tabpanel").locator("p").first().waitFor();
    expect(await findings(page), name).toEqual([]);
  }
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").waitFor();
  expect(await findings(page)).toEqual([]);
});

test("the system's theme is followed, and a chosen one is kept", async () => {
  const page = await openPage({ isDark: true });
  const theme = () => page.locator("html").getAttribute("data-theme");
  expect(await theme()).toBe("dark");
  await page.emulateMedia({ colorScheme: "light" });
  await page.locator("html[data-theme=light]").waitFor({ state: "attached" });
  await page.getByRole("button", { name: "Settings" }).click();
  await page.getByRole("menuitem", { name: "Dark" }).click();
  expect(await theme()).toBe("dark");
  await page.reload();
  expect(await theme()).toBe("dark");
});

test("a phone shows the whole chat without scrolling sideways, and the list as a drawer", async () => {
  const page = await openPage({ width: 390, height: 844 });
  await fullChat(page);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(overflow).toBe(0);
  await page.getByRole("button", { name: "Open the list of chats" }).click();
  await page.getByRole("searchbox", { name: "Search chats" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("searchbox", { name: "Search chats" }).waitFor({ state: "hidden" });
  expect(await findings(page)).toEqual([]);
});

test("Chinese browsers get Chinese, and the language can be changed", async () => {
  await script({ when: "你好", text: "你好！有什么可以帮忙？" });
  const page = await openPage({ locale: "zh-CN" });
  await loadChineseFont(page);
  await page.getByRole("heading", { name: "有什么可以帮你？" }).waitFor();
  expect(await page.locator("html").getAttribute("lang")).toBe("zh-CN");
  const field = page.getByRole("textbox", { name: "消息", exact: true });
  await field.fill("你好");
  await field.dispatchEvent("keydown", { key: "Enter", isComposing: true });
  expect(await field.inputValue()).toBe("你好");
  await field.press("Enter");
  await page.getByRole("article", { name: "助手" }).getByText("你好！有什么可以帮忙？").waitFor();
  await page.getByRole("button", { name: "设置" }).click();
  await page.getByRole("menuitem", { name: "English" }).click();
  await composer(page).waitFor();
});
