/** Appearance and accessibility: dark, narrow, Chinese, screen readers. */

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { findings } from "./axe";
import { answer, ask, call, composer, loadChineseFont, openPage, release, script, useBrowser } from "./harness";

useBrowser();

/** Opens what is collapsed at first: a form, and the messages of a request. */
async function openSomething(page: Page, panel: string): Promise<void> {
  const within = page.getByRole("tabpanel", { name: panel });
  if (panel === "Tools") {
    await within.getByRole("button", { name: /^Cut/ }).click();
    await within.getByRole("button", { name: "Add to boards", exact: true }).click();
  }
  if (panel === "Schedules") await within.getByRole("button", { name: "Add a schedule", exact: true }).click();
  if (panel === "Run")
    await within
      .getByRole("button", { name: /^Prompt/ })
      .last()
      .click();
}

async function fullChat(page: Page): Promise<void> {
  await script(
    { when: "show all", reasoning: "Hm.", tool_calls: [call("calculate", { expression: "987 + 1" })] },
    {
      when: "988",
      text: "# Sum\n\nIt is `2`.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\nx = 1\n```\n\n- [x] done",
    },
  );
  await ask(page, "show all");
  await answer(page).getByRole("heading", { name: "Sum", exact: true }).waitFor();
  await page.getByRole("button", { name: /^(Send|发送)$/ }).waitFor();
}

test.each([
  ["light", false],
  ["dark", true],
])("the accessibility checker finds nothing serious in %s", async (_, isDark) => {
  const page = await openPage({ isDark });
  expect(await findings(page)).toEqual([]);
  await fullChat(page);
  await page.getByRole("button", { name: /^Calculate/ }).click();
  await page.getByRole("button", { name: "Open the workbench", exact: true }).click();
  for (const name of ["Tools", "Extensions", "Agents", "Skills", "Schedules", "Models", "Run"]) {
    await page.getByRole("tab", { name }).click();
    await page.getByRole("tabpanel", { name }).locator("p").first().waitFor();
    await openSomething(page, name);
    expect(await findings(page), name).toEqual([]);
  }
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").waitFor();
  expect(await findings(page)).toEqual([]);
});

test("the accessibility checker finds nothing serious in background tasks and messages that wait", async () => {
  await script(
    { when: "in a while", tool_calls: [call("scribe", { query: "jot down sage", background: true })] },
    { when: "jot down sage", tool_calls: [call("write_note", { name: "herbs", text: "sage" })] },
    { when: "in the background", steps: ["It is", { hold: "sage" }, " under way."] },
  );
  const page = await openPage({ width: 390, height: 844 });
  await ask(page, "in a while");
  await page.getByText(/Asked by .*Scribe/).waitFor();
  await answer(page).getByText("It is").waitFor();
  await ask(page, "hurry up");
  await page.getByText("Next turn").waitFor();
  await page.getByRole("button", { name: "Message Scribe", exact: true }).click();
  await composer(page).fill("and more");
  expect(await findings(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
  await page.getByRole("button", { name: "Take back “hurry up”", exact: true }).click();
  await release("sage");
});

test.each([
  ["light", false],
  ["dark", true],
])("the accessibility checker finds nothing serious in the work of an answer, %s", async (dress, isDark) => {
  const todos = [
    { content: "Saw", status: "completed" },
    { content: "Plane", status: "in_progress" },
    { content: "Glue", status: "pending" },
  ];
  const shapes = ["table", "json", "diff", "links", "chart", "colors", "error"];
  const agents = [call("scribe", { query: "jot down thyme" }), call("summarizer", { text: "The tale of Grettir" })];
  await script(
    {
      when: "all of it",
      tool_calls: [call("write_todos", { todos }), ...shapes.map((what) => call("show", { what }))],
    },
    { when: "stuck", tool_calls: agents },
    { when: "jot down thyme", tool_calls: [call("write_note", { name: "herbs", text: "thyme" })] },
    { when: "The tale of Grettir", steps: ["A strong man", { hold: `grettir ${dress}` }, " and a ghost."] },
    { when: "kept herbs: thyme", text: "Thyme is written down." },
    { when: "", text: "```mermaid\nflowchart LR\n  A --> B\n```\n\nAll done.[^1]\n\n[^1]: Nearly." },
  );
  const page = await openPage({ isDark });
  await ask(page, "all of it");
  await answer(page).getByText("A strong man").waitFor();
  await answer(page).locator("fieldset").waitFor();
  expect(await findings(page), "at work").toEqual([]);
  await answer(page)
    .getByRole("button", { name: /^Allow/ })
    .first()
    .click();
  await release(`grettir ${dress}`);
  await answer(page).getByRole("img", { name: "Diagram" }).waitFor();
  await page.getByRole("button", { name: "Send", exact: true }).waitFor();
  await answer(page)
    .getByRole("button", { name: /^Used tools/ })
    .click();
  const closed = answer(page).locator("[data-tool-state] > div > button[aria-expanded=false]");
  for (let count = await closed.count(); count > 0; count--) await closed.first().click();
  await answer(page).getByRole("table", { name: "Output" }).waitFor();
  expect(await findings(page), "opened").toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
});

test("the page follows the system's theme, and keeps a chosen one", async () => {
  const page = await openPage({ isDark: true });
  const theme = () => page.locator("html").getAttribute("data-theme");
  await expect.poll(theme).toBe("dark");
  await page.emulateMedia({ colorScheme: "light" });
  await page.locator("html[data-theme=light]").waitFor({ state: "attached" });
  await page.getByRole("button", { name: "Settings", exact: true }).click();
  await page.getByRole("menuitem", { name: "Dark", exact: true }).click();
  await expect.poll(theme).toBe("dark");
  await page.reload();
  await expect.poll(theme).toBe("dark");
});

test("a phone shows the whole chat without scrolling sideways, and the list as a drawer", async () => {
  const page = await openPage({ width: 390, height: 844 });
  await fullChat(page);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(overflow).toBe(0);
  await page.getByRole("button", { name: "Open the list of chats", exact: true }).click();
  await page.getByRole("searchbox", { name: "Search chats", exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("searchbox", { name: "Search chats", exact: true }).waitFor({ state: "hidden" });
  expect(await findings(page)).toEqual([]);
});

test("Chinese browsers get Chinese, and the language can be changed", async () => {
  await script({ when: "你好", text: "你好！有什么可以帮忙？" });
  const page = await openPage({ locale: "zh-CN" });
  await loadChineseFont(page);
  await page.getByRole("heading", { name: "有什么可以帮你？", exact: true }).waitFor();
  await page.locator("html[lang=zh-CN]").waitFor();
  const field = page.getByRole("textbox", { name: "消息", exact: true });
  await field.fill("你好");
  await field.dispatchEvent("keydown", { key: "Enter", isComposing: true });
  expect(await field.inputValue()).toBe("你好");
  await field.press("Enter");
  await page.getByRole("article", { name: "助手", exact: true }).getByText("你好！有什么可以帮忙？").waitFor();
  await page.getByRole("button", { name: "设置", exact: true }).click();
  await page.getByRole("menuitem", { name: "English", exact: true }).click();
  await composer(page).waitFor();
});
