/** Pins, folders, searches that lead to a message, and shared links. */

import { expect, test } from "vitest";
import { address, answer, ask, fillChat, idle, NOON, openPage, script, useBrowser } from "./harness";

useBrowser();

async function act(page: Awaited<ReturnType<typeof openPage>>, title: string, action: string): Promise<void> {
  await page.getByRole("button", { name: `More actions: ${title}`, exact: true }).click();
  await page.getByRole("menuitem", { name: action, exact: true }).click();
}

test("a chat is pinned, put into a folder, and the folder renamed and removed", async () => {
  await script({ text: "Here.", repeat: true });
  const page = await openPage({ timeZone: NOON });
  await ask(page, "about oak");
  await answer(page).getByText("Here.").waitFor();
  const list = page.getByRole("navigation", { name: "Conversation", exact: true });

  await act(page, "about oak", "Pin");
  await list.getByRole("region", { name: "Pinned" }).getByRole("button", { name: "about oak", exact: true }).waitFor();
  await act(page, "about oak", "Unpin");
  await list.getByRole("region", { name: "Pinned" }).waitFor({ state: "detached" });

  await act(page, "about oak", "Move to a folder");
  const dialog = page.getByRole("dialog", { name: "Move to a folder", exact: true });
  await dialog.getByRole("textbox", { name: "New folder", exact: true }).fill("Wood");
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  const folders = list.getByRole("region", { name: "Folders" });
  await folders.getByRole("button", { name: "about oak", exact: true }).waitFor();
  await list.getByRole("region", { name: "Today" }).waitFor({ state: "detached" });

  await act(page, "Wood", "Rename");
  const renaming = page.getByRole("dialog", { name: "Rename the folder", exact: true });
  await renaming.getByRole("textbox", { name: "Name of the folder", exact: true }).fill("Trees");
  await renaming.getByRole("button", { name: "Save", exact: true }).click();
  await folders.getByRole("button", { name: "Trees 1", exact: true }).waitFor();
  await act(page, "Trees", "Remove the folder");
  await page.getByRole("dialog").getByRole("button", { name: "Remove the folder", exact: true }).click();
  await list.getByRole("region", { name: "Today" }).getByRole("button", { name: "about oak", exact: true }).waitFor();
});

test("a search shows where it was found and leads to the message, also on another branch", async () => {
  await script({ when: "needle", text: "The needle is here." }, { when: "needle", text: "Another version." });
  const path = await fillChat(12);
  const page = await openPage({ path });
  await ask(page, "find the needle");
  await answer(page).getByText("The needle is here.").waitFor();
  await idle(page);
  await page.getByRole("button", { name: "Try again", exact: true }).last().click();
  await answer(page).getByText("Another version.").waitFor();
  await idle(page);
  await ask(page, "filler at the end");
  await answer(page).nth(13).waitFor();

  await page.getByRole("searchbox", { name: "Search chats" }).fill("needle is");
  const place = page.getByRole("navigation", { name: "Conversation", exact: true }).getByText("The needle is here.");
  await place.click();
  await answer(page).getByText("The needle is here.").waitFor();
  await page.getByRole("searchbox", { name: "Search chats" }).fill("filler 2");
  await page.getByRole("button", { name: "You: filler 2", exact: true }).click();
  const message = page.getByRole("article", { name: "You" }).filter({ hasText: /^filler 2$/ });
  await expect.poll(async () => isInSight(await message.boundingBox())).toBe(true);
});

test("the palette finds titles first, then places in messages, and leads to the message", async () => {
  const path = await fillChat(12);
  const page = await openPage({ path });
  await page
    .getByRole("article", { name: "You" })
    .filter({ hasText: /^filler 12$/ })
    .waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Commands" }).fill("filler 1");
  const places = page.getByRole("group", { name: "In messages", exact: true }).getByRole("option");
  await expect.poll(() => places.allInnerTexts()).toEqual(expect.arrayContaining(["filler 1\nfiller 10"]));
  const options = page.getByRole("option");
  expect(await options.first().innerText()).toBe("filler 1");
  expect(await options.first().getAttribute("aria-selected")).toBe("true");

  await page.getByRole("combobox", { name: "Commands" }).fill("filler 2");
  await expect.poll(() => places.allInnerTexts()).toEqual(["filler 1\nfiller 2"]);
  await page.keyboard.press("Enter");
  const message = page.getByRole("article", { name: "You" }).filter({ hasText: /^filler 2$/ });
  await expect.poll(async () => isInSight(await message.boundingBox())).toBe(true);
});

function isInSight(box: { y: number; height: number } | null): boolean {
  return box !== null && box.y >= 0 && box.y + box.height <= 820;
}

test("a shared link is read without signing in, and shows nothing after it was revoked", async () => {
  await script({ text: "Dovetails hold." });
  const page = await openPage();
  await ask(page, "share this");
  await answer(page).getByText("Dovetails hold.").waitFor();
  await act(page, "share this", "Share");
  const dialog = page.getByRole("dialog", { name: "Share this chat", exact: true });
  await dialog.getByRole("button", { name: "Create a link", exact: true }).click();
  const link = await dialog.getByRole("link").getAttribute("href");
  expect(link).toContain(`${address.url}/#/shared/`);

  const other = await openPage({ path: new URL(link ?? "").hash, expected: /404/ });
  await other.getByText("Dovetails hold.").waitFor();
  expect(await other.getByRole("textbox", { name: "Message" }).count()).toBe(0);
  await dialog.getByRole("button", { name: "Revoke this link", exact: true }).click();
  await dialog.getByRole("list", { name: "Links" }).waitFor({ state: "detached" });
  await other.reload();
  await other.getByText("This link no longer works.").waitFor();
});
