/** Writing a message: drafts, suggestions, prompts, editing by key, and narrow screens. */

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { findings } from "./axe";
import {
  address,
  answer,
  ask,
  composer,
  countOf,
  DELETED,
  idle,
  loadChineseFont,
  openPage,
  openTab,
  requestAbout,
  script,
  useBrowser,
} from "./harness";

useBrowser();

const PROMPTS = join(address.workspace, "prompts");
const suggestions = (page: Page) => page.getByRole("listbox", { name: "Suggestions", exact: true });
const option = (page: Page, name: string | RegExp) => suggestions(page).getByRole("option", { name });
const written = (page: Page) => expect.poll(() => composer(page).inputValue());
const newChat = (page: Page) => page.getByRole("button", { name: "New chat", exact: true }).first();

async function reload(): Promise<void> {
  const headers = { "x-admin-token": "open-sesame" };
  await fetch(`${address.url}/api/v1/extensions/reload`, { method: "POST", headers });
}

afterAll(async () => {
  rmSync(PROMPTS, { recursive: true, force: true });
});

/** A chat with one question, as the page shows it. */
async function startChat(page: Page, text: string): Promise<void> {
  await script({ when: text, text: `Answer to ${text}.` });
  await ask(page, text);
  await answer(page).getByText(`Answer to ${text}.`).waitFor();
  await idle(page);
}

test("drafts stay with their chats, with their files, over a switch, a reload and a second tab", async () => {
  const page = await openPage();
  await startChat(page, "the first chat");
  const first = new URL(page.url()).hash;
  await composer(page).fill("unsent in the first");
  const note = { name: "note.txt", mimeType: "text/plain", buffer: Buffer.from("a note") };
  await page.locator("input[type=file]").setInputFiles(note);
  const chip = page.getByRole("button", { name: "Remove note.txt", exact: true });
  await chip.waitFor();
  await newChat(page).click();
  await written(page).toBe("");
  await countOf(chip, 0);
  await composer(page).fill("unsent in a new one");

  await page.reload();
  await written(page).toBe("unsent in a new one");
  await page.goto(`${address.url}/${first}`);
  await written(page).toBe("unsent in the first");
  await chip.waitFor();

  const tab = await openTab(page, `/${first}`);
  await written(tab).toBe("unsent in the first");
  await tab.getByRole("button", { name: "Remove note.txt", exact: true }).waitFor();
  await script({ when: "unsent in the first", text: "Sent now." });
  await composer(tab).press("Enter");
  await answer(tab).getByText("Sent now.").waitFor();
  await page.reload();
  await answer(page).getByText("Sent now.").waitFor();
  await written(page).toBe("");
  await countOf(chip, 0);
});

test("the draft of a deleted chat is gone, and nothing of it stays in the browser", async () => {
  const page = await openPage({ expected: DELETED });
  await startChat(page, "soon deleted");
  await composer(page).fill("never sent");
  await newChat(page).click();
  const kept = () => page.evaluate(() => Object.keys(localStorage).filter((key) => key.includes(".draft.")).length);
  await expect.poll(kept).toBe(1);
  await page
    .getByRole("button", { name: /^More actions: / })
    .first()
    .click();
  await page.getByRole("menuitem", { name: "Delete", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await expect.poll(kept).toBe(0);
});

test("the up key in an empty field edits the last question", async () => {
  const page = await openPage();
  await startChat(page, "how hihg is it");
  await composer(page).press("ArrowUp");
  const field = page.getByRole("textbox", { name: "Edit", exact: true });
  await expect.poll(() => field.inputValue()).toBe("how hihg is it");
  await script({ when: "how high is it", text: "Very high." });
  await field.fill("how high is it");
  await field.press("Enter");
  await answer(page).getByText("Very high.").waitFor();
  await composer(page).fill("text stays");
  await composer(page).press("ArrowUp");
  await countOf(field, 0);
});

test("an agent that is named answers this message, and only this one", async () => {
  const page = await openPage();
  await composer(page).pressSequentially("@scr");
  await option(page, /Scribe/).waitFor();
  await composer(page).press("Enter");
  await written(page).toBe("@scribe ");
  await script({ when: "note that oak", text: "Noted." }, { when: "and who are you", text: "The assistant." });
  await composer(page).pressSequentially("note that oak is hard");
  await composer(page).press("Enter");
  await answer(page).getByText("Noted.").waitFor();
  await idle(page);
  expect(await requestAbout("note that oak")).toContain("You write notes.");
  await ask(page, "and who are you?");
  await answer(page).getByText("The assistant.").waitFor();
  expect(await requestAbout("and who are you")).not.toContain("You write notes.");
});

test("an agent that is named before the page has the list of agents answers all the same", async () => {
  const page = await openPage();
  let deliver = () => {};
  const isDelivered = new Promise<void>((resolve) => {
    deliver = resolve;
  });
  await page.route("**/api/v1/agents", async (route) => {
    await isDelivered;
    await route.continue();
  });
  await page.reload();
  await script({ when: "note that elm", text: "Noted." });
  await ask(page, "@scribe note that elm is tough");
  await written(page).toBe("");
  deliver();
  await answer(page).getByText("Noted.").waitFor();
  expect(await requestAbout("note that elm")).toContain("You write notes.");
});

test("suggestions are chosen by keyboard alone, and their list is accessible", async () => {
  const page = await openPage();
  await composer(page).pressSequentially("see /");
  await option(page, /Explain something/).waitFor();
  await suggestions(page).getByRole("group", { name: "Prompts", exact: true }).waitFor();
  await suggestions(page).getByRole("group", { name: "Commands", exact: true }).waitFor();
  expect(await findings(page)).toEqual([]);
  const chosen = () =>
    composer(page).evaluate((field) => {
      const id = field.getAttribute("aria-activedescendant") ?? "";
      return document.getElementById(id)?.textContent ?? "";
    });
  const first = await chosen();
  await composer(page).press("ArrowDown");
  await expect.poll(chosen).not.toBe(first);
  await composer(page).press("ArrowUp");
  await expect.poll(chosen).toBe(first);
  await composer(page).press("Escape");
  await countOf(suggestions(page), 0);
  await composer(page).pressSequentially("x");
  await countOf(suggestions(page), 0);
  await composer(page).fill("/expl");
  await countOf(suggestions(page).getByRole("option"), 1);
  await composer(page).fill("and/or me@example.org 1/2");
  await countOf(suggestions(page), 0);
});

test("a prompt asks for its variables and becomes the text of the message", async () => {
  const page = await openPage();
  await composer(page).pressSequentially("Please: /review");
  await option(page, /Review a text/).waitFor();
  await composer(page).press("Tab");
  const dialog = page.getByRole("dialog", { name: "Review a text", exact: true });
  await dialog.waitFor();
  expect(await findings(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Insert", exact: true }).click();
  await dialog.getByText("Enter a value.").waitFor();
  await dialog.getByRole("textbox", { name: "Text", exact: true }).fill("Me like wood.");
  await dialog.getByRole("combobox", { name: "Goal", exact: true }).selectOption("formal");
  await dialog.getByRole("button", { name: "Insert", exact: true }).click();
  await countOf(dialog, 0);
  await written(page).toContain("Please: Review the text below. It should be formal.");
  await written(page).toContain("Me like wood.");
  await expect.poll(() => composer(page).evaluate((field) => field === document.activeElement)).toBe(true);
});

test("a prompt file of the workspace is there at once, and a broken one keeps its last good version", async () => {
  mkdirSync(PROMPTS, { recursive: true });
  const file = join(PROMPTS, "standup.yaml");
  writeFileSync(file, ".about: {title: Daily report}\ninput: What happened since yesterday?\n");
  const page = await openPage();
  await reload();
  await composer(page).pressSequentially("/daily");
  await option(page, /Daily report/).click();
  await written(page).toBe("What happened since yesterday?");
  writeFileSync(file, "input: [\n");
  await reload();
  await composer(page).fill("");
  await composer(page).pressSequentially("/daily");
  await option(page, /Daily report/).click();
  await written(page).toBe("What happened since yesterday?");
});

test("an input method keeps its keys, and wide signs open the list", async () => {
  const page = await openPage({ locale: "zh-CN" });
  const field = page.getByRole("textbox", { name: "消息", exact: true });
  const list = page.getByRole("listbox", { name: "建议", exact: true });
  await field.fill("请＠scr");
  await list.getByRole("option", { name: /Scribe/ }).waitFor();
  await field.evaluate((element) =>
    element.dispatchEvent(
      new KeyboardEvent("keydown", { key: "Enter", isComposing: true, bubbles: true, cancelable: true }),
    ),
  );
  await expect.poll(() => field.inputValue()).toBe("请＠scr");
  await list.getByRole("option", { name: /Scribe/ }).click();
  await expect.poll(() => field.inputValue()).toBe("请@scribe ");
  await field.fill("、expl");
  await list.getByRole("option").first().waitFor();
  await list.getByRole("group", { name: "提示词", exact: true }).waitFor();
  await loadChineseFont(page);
  expect(await findings(page)).toEqual([]);
});

test("on a narrow phone the controls stay in one row, and the pickers are one tap away", async () => {
  const page = await openPage({ width: 360, height: 700 });
  await composer(page).fill("text");
  const settings = page.getByRole("button", { name: /^Agent, model and options/ });
  const send = page.getByRole("button", { name: "Send", exact: true });
  const attach = page.getByRole("button", { name: "Attach files", exact: true });
  const boxes = await Promise.all([attach, settings, send].map((one) => one.boundingBox()));
  const rows = new Set(boxes.map((box) => Math.round((box?.y ?? 0) + (box?.height ?? 0) / 2)));
  expect(rows.size).toBe(1);
  for (const box of boxes) expect((box?.x ?? 999) + (box?.width ?? 999)).toBeLessThanOrEqual(360);
  const width = () => page.evaluate(() => document.documentElement.scrollWidth);
  expect(await width()).toBe(360);
  await countOf(page.getByRole("button", { name: /^Agent:/ }), 0);
  await settings.click();
  await page.getByRole("button", { name: /^Agent:/ }).click();
  await page.getByRole("menuitem", { name: /Scribe/ }).click();
  await page.getByRole("button", { name: /^Agent, model and options: Scribe/ }).waitFor();
  expect(await width()).toBe(360);
  expect(await findings(page)).toEqual([]);
});

test("instructions and parameters belong to the chat, reach the model, and are marked", async () => {
  const page = await openPage();
  const open = (name: string) => page.getByRole("button", { name, exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Instructions and parameters", exact: true });
  await open("Instructions and parameters");
  await dialog.getByRole("textbox", { name: "Instructions", exact: true }).fill("Answer in rhyme.");
  await dialog.getByRole("textbox", { name: "Temperature", exact: true }).fill("7");
  expect(await findings(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Save", exact: true }).click();
  await dialog.getByText("Enter a number from 0 to 2.").waitFor();
  await dialog.getByRole("textbox", { name: "Temperature", exact: true }).fill("0,5");
  await dialog.getByRole("textbox", { name: "Temperature", exact: true }).press("Enter");
  await countOf(dialog, 0);
  await startChat(page, "in which form");
  expect(await requestAbout("in which form")).toContain("Answer in rhyme.");

  await page.reload();
  await open("Instructions and parameters (changed)");
  const temperature = dialog.getByRole("textbox", { name: "Temperature", exact: true });
  await expect.poll(() => temperature.inputValue()).toBe("0.5");
  await dialog.getByRole("button", { name: "Reset", exact: true }).click();
  await countOf(dialog, 0);
  await page.getByRole("button", { name: "Instructions and parameters", exact: true }).waitFor();
  await startChat(page, "and in which now");
  expect(await requestAbout("and in which now")).not.toContain("Answer in rhyme.");
  await newChat(page).click();
  await page.getByRole("button", { name: "Instructions and parameters", exact: true }).waitFor();
});

test("the options of one chat are not those of another, and are found by typing", async () => {
  const page = await openPage();
  await startChat(page, "one chat");
  await composer(page).pressSequentially("/opt");
  await option(page, "Instructions and parameters").click();
  const dialog = page.getByRole("dialog", { name: "Instructions and parameters", exact: true });
  await dialog.getByRole("textbox", { name: "Instructions", exact: true }).fill("Be brief.");
  await dialog.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("button", { name: "Instructions and parameters (changed)", exact: true }).waitFor();
  await written(page).toBe("");
  await newChat(page).click();
  await page.getByRole("button", { name: "Instructions and parameters", exact: true }).waitFor();
});

test("on a small screen the first screen gives way to the message", async () => {
  const page = await openPage({ width: 360, height: 480 });
  await composer(page).fill("one\ntwo\nthree\nfour\nfive\nsix");
  const greeting = page.getByRole("heading", { name: "What can I do for you?", exact: true });
  const top = await page
    .locator("main header")
    .first()
    .evaluate((bar) => bar.getBoundingClientRect().bottom);
  const frame = await greeting.evaluate((heading) => heading.closest(".overflow-y-auto")?.getBoundingClientRect().top);
  expect(frame).toBeGreaterThanOrEqual(top);
  const send = await page.getByRole("button", { name: "Send", exact: true }).boundingBox();
  expect((send?.y ?? 999) + (send?.height ?? 999)).toBeLessThanOrEqual(480);
});
