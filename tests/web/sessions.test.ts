/** The list of chats: finding, renaming, deleting, exporting. */

import { expect, test } from "vitest";
import { address, answer, ask, composer, DELETED, NOON, openPage, script, useBrowser } from "./harness";

useBrowser();

test("a chat can be found, renamed, exported and deleted", async () => {
  await script({ when: "zebra", text: "Stripes." }, { when: "giraffe", text: "A long neck." });
  const page = await openPage({ expected: DELETED });
  const list = page.getByRole("navigation");
  await ask(page, "talk about the zebra");
  await answer(page).getByText("Stripes.").waitFor();
  await page.getByRole("button", { name: "New chat", exact: true }).first().click();
  await ask(page, "talk about the giraffe");
  await answer(page).getByText("A long neck.").waitFor();

  await page.getByRole("searchbox", { name: "Search chats", exact: true }).fill("zebra");
  await list.getByRole("button", { name: "talk about the giraffe", exact: true }).waitFor({ state: "detached" });
  await list.getByRole("button", { name: "talk about the zebra", exact: true }).click();
  await answer(page).getByText("Stripes.").waitFor();

  await page.getByRole("button", { name: "More actions: talk about the zebra", exact: true }).click();
  const download = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: "Export as Markdown", exact: true }).click();
  expect((await download).suggestedFilename()).toMatch(/\.md$/);

  await page.getByRole("button", { name: "More actions: talk about the zebra", exact: true }).click();
  await page.getByRole("menuitem", { name: "Rename", exact: true }).click();
  await page.getByRole("textbox", { name: "Rename", exact: true }).fill("About zebra");
  await page.getByRole("textbox", { name: "Rename", exact: true }).press("Enter");
  await list.getByRole("button", { name: "About zebra", exact: true }).waitFor();

  await page.getByRole("button", { name: "More actions: About zebra", exact: true }).click();
  await page.getByRole("menuitem", { name: "Delete", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Delete “About zebra”?", exact: true });
  await dialog.getByRole("button", { name: "Delete", exact: true }).click();
  await list.getByRole("button", { name: "About zebra", exact: true }).waitFor({ state: "detached" });
  await page.getByRole("heading", { name: "What can I do for you?", exact: true }).waitFor();
});

test("an open menu and a name being typed stay while the list is drawn again", async () => {
  await script({ when: "zebra", text: "Stripes." });
  const page = await openPage({ timeZone: NOON });
  const list = page.getByRole("navigation");
  await ask(page, "talk about the zebra");
  await answer(page).getByText("Stripes.").waitFor();
  const today = list.getByRole("region", { name: "Today" });
  await today.getByRole("button", { name: "talk about the zebra", exact: true }).waitFor();

  const id = page.url().split("/s/")[1];
  const pin = async (pinned: boolean) => {
    const headers = { "content-type": "application/json" };
    const change = { method: "PATCH", body: JSON.stringify({ pinned }), headers };
    expect((await fetch(`${address.url}/api/v1/sessions/${id}`, change)).status).toBe(200);
  };

  await page.getByRole("button", { name: "More actions: talk about the zebra", exact: true }).click();
  await pin(true);
  await list.getByRole("region", { name: "Pinned" }).waitFor();
  expect(await page.getByRole("menuitem", { name: "Rename", exact: true }).count()).toBe(1);

  await page.getByRole("menuitem", { name: "Rename", exact: true }).click();
  const name = page.getByRole("textbox", { name: "Rename", exact: true });
  await name.fill("About ze");
  await pin(false);
  await list.getByRole("region", { name: "Pinned" }).waitFor({ state: "detached" });
  expect(await name.inputValue()).toBe("About ze");
  await name.press("Enter");
  await list.getByRole("button", { name: "About ze", exact: true }).waitFor();
});

test("a chat that continues in the background is there on return", async () => {
  await script({ when: "background work", steps: ["Working", " and done."] }, { when: "front", text: "Here." });
  const page = await openPage();
  await ask(page, "background work");
  await answer(page).getByText("Working").waitFor();
  await page.getByRole("button", { name: "New chat", exact: true }).first().click();
  await ask(page, "something in front");
  await answer(page).getByText("Here.").waitFor();
  await page.getByRole("navigation").getByRole("button", { name: "background work", exact: true }).click();
  await answer(page).getByText("Working and done.").waitFor();
  await page.goBack();
  await answer(page).getByText("Here.").waitFor();
});

test("the address of an unknown chat says so and leads to a new one", async () => {
  await script({ when: "anyone there", text: "I am." });
  const page = await openPage({ path: "/#/s/nowhere", expected: /404/ });
  await page.getByRole("heading", { name: "This chat does not exist.", exact: true }).waitFor();
  expect(await composer(page).count()).toBe(0);
  await page.getByRole("main").getByRole("button", { name: "New chat", exact: true }).last().click();
  await page.getByRole("heading", { name: "What can I do for you?", exact: true }).waitFor();
  await ask(page, "anyone there");
  await answer(page).getByText("I am.").waitFor();
  await page.reload();
  await answer(page).getByText("I am.").waitFor();
});

test("a chat that is stored after its address was opened appears there", async () => {
  const page = await openPage({ path: "/#/s/soon", expected: /404/ });
  await page.getByRole("heading", { name: "This chat does not exist.", exact: true }).waitFor();
  await script({ when: "from elsewhere", text: "Here it is." });
  const question = { id: "q1", role: "user", parts: [{ type: "text", text: "from elsewhere" }] };
  await fetch(`${address.url}/api/v1/chat`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ id: "soon", messages: [question] }),
  });
  await answer(page).getByText("Here it is.").waitFor();
});
