/** The screenshots in the documentation, taken from the real page with a scripted model: `npm run pictures`. */

import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, test } from "vitest";
import { address, answer, ask, call, loadChineseFont, openPage, script, useBrowser } from "./harness";
import { enter } from "./states";

useBrowser();

const FOLDER = join(import.meta.dirname, "..", "..", "docs", "images");
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

/** Chats in the list on the left. */
async function addChats(): Promise<void> {
  for (const title of ["Plan a drawer with dovetails", "Compare three wood glues", "燕尾榫和指接榫的区别"]) {
    const headers = { "content-type": "application/json" };
    await fetch(`${address.url}/api/v1/sessions`, { method: "POST", body: JSON.stringify({ title }), headers });
  }
}

test("a chat with its work, light and dark", async () => {
  await addChats();
  const page = await openPage(SIZE);
  const lanes = ["Oak: strong, slow to cut, slope 1:8.", "Pine: light, quick to cut, slope 1:6."];
  const boards = "board,wood,width\nfront,oak,220\nside,pine,180\n";
  writeFileSync(join(address.workspace, "boards.csv"), boards);
  await script(
    {
      when: "Which wood",
      reasoning: "First the boards that are there, then both woods at once.",
      tool_calls: [call("read_file", { path: "boards.csv" }), call("calculate", { expression: "220 / 8" })],
    },
    {
      when: "27.5",
      tool_calls: [call("summarizer", { text: "Notes on oak" }), call("summarizer", { text: "Notes on pine" })],
    },
    { when: "Notes on oak", text: lanes[0] },
    { when: "Notes on pine", text: lanes[1] },
    {
      when: "slope 1:6",
      text: "Take **oak for the front** and pine for the sides:\n\n| board | wood | slope | minutes |\n|---|---|---:|---:|\n| front | oak | 1:8 | 45 |\n| sides | pine | 1:6 | 30 |",
      usage: { input_tokens: 1840, output_tokens: 96 },
    },
  );
  await ask(page, "Which wood should I take for the drawer? Look at boards.csv.");
  await answer(page).getByText("oak for the front").waitFor();
  await page.getByRole("button", { name: "Send", exact: true }).waitFor();
  await answer(page).getByRole("button", { expanded: false }).first().click();
  await take(page, "chat");
  await goDark(page);
  await take(page, "chat-dark");
});

test("an approval with a difference", async () => {
  await addChats();
  const page = await openPage(SIZE);
  await enter(page, "approval");
  await take(page, "approval");
});

test("the control room", async () => {
  const page = await openPage({ ...SIZE, height: 800, timeZone: "UTC" });
  await enter(page, "costs");
  await take(page, "control-room");
});

test("the run next to the chat", async () => {
  await script(
    {
      when: "my slope",
      tool_calls: [call("write_note", { name: "slope", text: "1:8 for hardwood" }, "call_1")],
      usage: { input_tokens: 386, output_tokens: 31 },
    },
    {
      when: "kept slope",
      tool_calls: [call("calculate", { expression: "22 / 8" }, "call_2")],
      usage: { input_tokens: 441, output_tokens: 22 },
    },
    {
      when: "2.75",
      text: "Noted. Over a board of 22 mm a slope of 1:8 is **2.75 mm**.",
      usage: { input_tokens: 480, output_tokens: 34 },
    },
  );
  // Where the run fits next to the chat.
  const page = await openPage({ ...SIZE, width: 1440, height: 800 });
  await ask(page, "Keep my slope for hardwood in a note. How much is it over 22 mm?");
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

test("the support desk of the examples", async () => {
  const desk = join(import.meta.dirname, "..", "..", "examples", "support_desk");
  for (const part of ["extensions", "data/shop.sql", "policy.toml"]) {
    cpSync(join(desk, part), join(address.workspace, part), { recursive: true });
  }
  const headers = { "x-admin-token": "open-sesame" }; // as serve.py has it
  await fetch(`${address.url}/api/v1/extensions/reload`, { method: "POST", headers });
  await script(
    { when: "Carla Rossi", tool_calls: [call("find_orders", { search: "Carla Rossi" })] },
    {
      when: "A-1004",
      tool_calls: [call("refund_order", { order: "A-1004", amount: 59, reason: "The parcel is lost." })],
    },
  );
  const page = await openPage(SIZE);
  await ask(page, "The parcel of Carla Rossi is lost. Refund the full price.");
  await page.getByRole("button", { name: "Allow", exact: true }).waitFor();
  await take(page, "support-desk");
});

test("a phone, in Chinese and dark", async () => {
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
