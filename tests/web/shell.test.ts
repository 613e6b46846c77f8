/** The frame of the page: the sidebar, the workbench and the control room. */

import { expect, test } from "vitest";
import { answer, ask, composer, openPage, script, useBrowser } from "./harness";

useBrowser();

test("the sidebar is hidden and shown, also by key, and stays as it was after a reload", async () => {
  const page = await openPage();
  const list = page.getByRole("navigation", { name: "Conversation", exact: true });
  await list.waitFor();
  await page.getByRole("button", { name: "Hide the sidebar", exact: true }).click();
  await list.waitFor({ state: "hidden" });
  await page.reload();
  await page.getByRole("button", { name: "Show the sidebar", exact: true }).waitFor();
  expect(await list.isVisible()).toBe(false);
  await page.keyboard.press("Control+b");
  await list.waitFor();
});

test("the workbench is made wider by dragging and by key, and keeps its width", async () => {
  const page = await openPage({ width: 1440 });
  const workbench = page.getByRole("complementary", { name: "Workbench", exact: true });
  const width = async () => (await workbench.boundingBox())?.width ?? 0;
  await page.getByRole("button", { name: "Open the workbench", exact: true }).click();
  const edge = page.getByRole("separator", { name: "Width of the workbench", exact: true });
  const before = await width();
  const box = await edge.boundingBox();
  await page.mouse.move((box?.x ?? 0) + 4, 400);
  await page.mouse.down();
  await page.mouse.move((box?.x ?? 0) - 96, 400);
  await page.mouse.up();
  await expect.poll(width).toBeGreaterThan(before + 90);
  const dragged = await width();
  await edge.focus();
  await page.keyboard.press("ArrowRight");
  await expect.poll(width).toBe(dragged - 24);
  await page.reload();
  await page.getByRole("button", { name: "Open the workbench", exact: true }).click();
  await expect.poll(width).toBe(dragged - 24);
});

test("below 1280 pixels the workbench lies above the chat, and Escape closes it", async () => {
  const page = await openPage({ width: 1024 });
  const main = page.getByRole("main");
  const before = (await main.boundingBox())?.width;
  await page.getByRole("button", { name: "Open the workbench", exact: true }).click();
  const workbench = page.getByRole("complementary", { name: "Workbench", exact: true });
  await workbench.waitFor();
  expect((await main.boundingBox())?.width).toBe(before);
  await page.keyboard.press("Escape");
  await workbench.waitFor({ state: "detached" });
});

test("the control room shows the panels on a whole page, and leads back to the chat", async () => {
  await script({ text: "Here." });
  const page = await openPage();
  await ask(page, "before the control room");
  await answer(page).getByText("Here.").waitFor();
  await page.getByRole("link", { name: "Control room", exact: true }).click();
  const room = page.getByRole("navigation", { name: "Control room", exact: true });
  await room.getByRole("link", { name: "Tools", exact: true }).click();
  await page.getByRole("heading", { name: "Tools", exact: true }).waitFor();
  await page.getByRole("main").getByRole("searchbox", { name: "Search tools" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Tools", exact: true }).waitFor();
  await page.goBack();
  await page.goBack();
  await answer(page).getByText("Here.").waitFor();
});

test("a question mark shows the keys, but not while a message is written", async () => {
  const page = await openPage();
  const help = page.getByRole("dialog", { name: "Keyboard shortcuts", exact: true });
  await composer(page).press("?");
  expect(await composer(page).inputValue()).toBe("?");
  expect(await help.count()).toBe(0);
  await page.getByRole("heading", { name: "What can I do for you?" }).click();
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  await page.keyboard.press("?");
  await help.getByText("Ctrl+K").waitFor();
  await page.keyboard.press("Escape");
  await help.waitFor({ state: "detached" });
});

test("the settings page changes theme and language at once", async () => {
  const page = await openPage({ path: "/#/room/settings" });
  await page.getByText("Dark", { exact: true }).click();
  await expect.poll(() => page.locator("html").getAttribute("data-theme")).toBe("dark");
  await page.getByText("中文", { exact: true }).click();
  await page.getByRole("heading", { name: "设置", exact: true }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "设置", exact: true }).waitFor();
  expect(await page.locator("html").getAttribute("data-theme")).toBe("dark");
});

test("an example of the first screen is written into the message", async () => {
  const page = await openPage();
  const examples = page.getByRole("list", { name: "Examples", exact: true });
  await examples.getByRole("button", { name: /^Write a file/ }).click();
  expect(await composer(page).inputValue()).toBe(
    "Write a packing list into packing.md: a tent, a map, a torch, a raincoat and a towel.",
  );
  expect(await examples.getByRole("button").count()).toBe(4);
});
