/** A whole chat without the mouse. */

import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { answer, call, composer, countOf, DELETED, openPage, script, useBrowser } from "./harness";

useBrowser();

const hasFocus = (element: Locator) => element.evaluate((one) => one === document.activeElement);

/** Presses a key until something has the focus. */
async function pressTo(page: Page, key: string, target: Locator): Promise<void> {
  await target.waitFor();
  for (let step = 0; step < 80; step++) {
    if (await hasFocus(target)) return;
    await page.keyboard.press(key);
  }
  const place = await page.evaluate(() => document.activeElement?.outerHTML.slice(0, 200));
  throw new Error(`${key} never leads to ${target}; it ended at ${place}`);
}

/** Runs a command of the palette, or opens a chat. */
async function runCommand(page: Page, name: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await expect.poll(() => hasFocus(page.getByRole("combobox", { name: "Commands" }))).toBe(true);
  await page.keyboard.type(name);
  await page.keyboard.press("Enter");
  await countOf(page.getByRole("dialog"), 0);
}

async function send(page: Page, text: string): Promise<void> {
  await expect.poll(() => hasFocus(composer(page))).toBe(true);
  await page.keyboard.type(text);
  await page.keyboard.press("Enter");
}

const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name, exact: true });

test("a chat is begun, steered, looked into, found again, changed and deleted without the mouse", async () => {
  await script(
    { when: "keep my slope", tool_calls: [call("write_note", { name: "slope", text: "1:8" })] },
    { when: "kept slope", text: "It is **kept**." },
    { when: "keep both", text: "Kept two." },
    { when: "something else", text: "Another chat." },
  );
  const page = await openPage({ expected: DELETED });
  await send(page, "something else");
  await answer(page).getByText("Another chat.").waitFor();
  await page.keyboard.press("Control+Shift+o");
  await countOf(answer(page), 0);

  // Choose an agent: the focus returns to the button, and a letter leads to the field.
  await pressTo(page, "Tab", button(page, "Agent: Assistant"));
  await page.keyboard.press("Enter");
  await pressTo(page, "ArrowDown", page.getByRole("menuitem", { name: /^Scribe/ }));
  await page.keyboard.press("Enter");
  await expect.poll(() => hasFocus(button(page, "Agent: Scribe"))).toBe(true);
  await page.keyboard.press("/");
  await send(page, "keep my slope");

  // Approve, then open the step.
  await pressTo(page, "Shift+Tab", button(page, "Allow"));
  await page.keyboard.press("y");
  await answer(page).getByText("It is kept.").waitFor();
  await expect.poll(() => hasFocus(composer(page))).toBe(true);
  const step = answer(page).getByRole("button", { name: /note/ }).first();
  await pressTo(page, "Shift+Tab", step);
  await page.keyboard.press("Enter");
  await expect.poll(() => step.getAttribute("aria-expanded")).toBe("true");

  // The workbench and the control room, and back to the chat.
  await page.keyboard.press("Control+.");
  await pressTo(page, "Tab", page.getByRole("tab", { selected: true }));
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => hasFocus(page.getByRole("tab", { selected: true }))).toBe(true);
  await page.keyboard.press("Control+.");
  await countOf(page.getByRole("tab"), 0);
  await runCommand(page, "Control room: Runs");
  await page.getByRole("table", { name: "Runs", exact: true }).waitFor();
  await pressTo(page, "Tab", page.getByRole("textbox", { name: "Search titles, messages and run ids", exact: true }));
  await pressTo(page, "Shift+Tab", button(page, "Back to the chats"));
  await page.keyboard.press("Enter");
  await answer(page).getByText("It is kept.").waitFor();

  // Find the other chat by its words, and this one again.
  await runCommand(page, "something else");
  await answer(page).getByText("Another chat.").waitFor();
  await pressTo(page, "Shift+Tab", page.getByRole("searchbox", { name: "Search chats" }));
  await page.keyboard.type("my slope");
  await pressTo(page, "Tab", button(page, "You: keep my slope"));
  await page.keyboard.press("Enter");
  await answer(page).getByText("It is kept.").waitFor();

  // Change the question, then delete its answer.
  await expect.poll(() => hasFocus(composer(page))).toBe(true);
  await page.keyboard.press("ArrowUp");
  await expect.poll(() => hasFocus(page.getByRole("textbox", { name: "Edit", exact: true }))).toBe(true);
  await page.keyboard.press("Control+a");
  await page.keyboard.type("keep both");
  await page.keyboard.press("Enter");
  await answer(page).getByText("Kept two.").waitFor();
  await expect.poll(() => hasFocus(composer(page))).toBe(true);
  await button(page, "Send").waitFor();
  await pressTo(page, "Shift+Tab", answer(page).getByRole("button", { name: "Delete message", exact: true }));
  await page.keyboard.press("Enter");
  await pressTo(page, "Tab", page.getByRole("dialog").getByRole("button", { name: "Delete message", exact: true }));
  await page.keyboard.press("Enter");
  await countOf(page.getByRole("dialog"), 0);
  await countOf(answer(page), 0);
  await expect.poll(() => hasFocus(composer(page))).toBe(true);

  // Delete the chat.
  await pressTo(page, "Shift+Tab", button(page, "More actions: keep my slope"));
  await page.keyboard.press("Enter");
  await pressTo(page, "ArrowUp", page.getByRole("menuitem", { name: "Delete", exact: true }));
  await page.keyboard.press("Enter");
  await pressTo(page, "Tab", page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }));
  await page.keyboard.press("Enter");
  await countOf(page.getByRole("dialog"), 0);
  await countOf(button(page, "More actions: keep my slope"), 0);
  await expect.poll(() => hasFocus(composer(page))).toBe(true);
});
