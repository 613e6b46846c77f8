/** Agents, skills and prompts, edited in the control room while the server runs. */

import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { address, answer, ask, countOf, openPage, script, useBrowser } from "./harness";

const ADMIN_TOKEN = "open-sesame"; // as serve.py has it

useBrowser();

async function giveToken(page: Page): Promise<void> {
  const token = page.getByRole("textbox", { name: "Admin token", exact: true });
  await token.fill(ADMIN_TOKEN);
  await token.press("Enter");
}

test("an agent is created, repaired after a refused text, used in a chat and deleted", async () => {
  await script({ when: "verse", text: "Roses are red." });
  const page = await openPage({ path: "/#/room/agents", expected: /403|422/ });
  await page.getByRole("button", { name: "New agent", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "New agent", exact: true });
  await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("poet");
  await dialog.getByRole("button", { name: "Create", exact: true }).click();
  await giveToken(page);
  const text = page.getByRole("textbox", { name: "agents/poet.md", exact: true });
  await text.fill("no front matter");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Missing front matter.").waitFor();
  await text.fill("---\nname: poet\ndescription: Writes verses.\n---\nWrite a verse.\n");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await countOf(page.getByRole("button", { name: "Discard changes", exact: true }), 0); // it is saved
  await page.getByRole("button", { name: "Start a chat with it", exact: true }).click();
  await page.getByRole("button", { name: /^Agent: poet/i }).waitFor();
  await ask(page, "a verse, please");
  await answer(page).getByText("Roses are red.").waitFor();

  await page.goto(`${address.url}/#/room/agents/poet`);
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("button", { name: "New agent", exact: true }).waitFor();
  expect(existsSync(join(address.workspace, "agents", "poet.md"))).toBe(false);
});

test("a text that was not saved is there on return, until it is saved or discarded", async () => {
  const file = join(address.workspace, "agents", "scout.md");
  const headers = { "x-admin-token": ADMIN_TOKEN };
  const reload = () => fetch(`${address.url}/api/v1/extensions/reload`, { method: "POST", headers });
  writeFileSync(file, "---\nname: scout\ndescription: Looks.\n---\nLook.\n");
  onTestFinished(async () => {
    rmSync(file, { force: true });
    await reload();
  });
  await reload();
  const page = await openPage({ path: "/#/room/agents/scout", expected: /403/ });
  await giveToken(page);
  const text = page.getByRole("textbox", { name: "agents/scout.md", exact: true });
  await text.fill("---\nname: scout\ndescription: Looks.\n---\nLook twice.\n");
  await page.getByRole("link", { name: "Skills", exact: true }).click();
  await text.waitFor({ state: "detached" });
  await page.goBack();
  await expect.poll(() => text.inputValue()).toContain("Look twice.");
  await page.reload();
  await expect.poll(() => text.inputValue()).toContain("Look twice.");
  await page.getByRole("button", { name: "Discard changes", exact: true }).click();
  await page.reload();
  await expect.poll(() => text.inputValue()).toContain("Look.");
});

test("a text that was changed elsewhere is not overwritten", async () => {
  const page = await openPage({ path: "/#/room/prompts", expected: /403|409/ });
  await page.getByRole("button", { name: "New prompt", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "New prompt", exact: true });
  await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("greet");
  await dialog.getByRole("button", { name: "Create", exact: true }).click();
  await giveToken(page);
  const text = page.getByRole("textbox", { name: "prompts/greet.yaml", exact: true });
  await text.waitFor();
  const path = `${address.url}/api/v1/sources/prompts/greet`;
  const headers = { "content-type": "application/json", "x-admin-token": ADMIN_TOKEN };
  await fetch(path, { method: "PUT", headers, body: JSON.stringify({ text: "input: Hello.\n" }) });
  await text.fill("input: Goodbye.\n");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("The file has changed since you opened it.").waitFor();
  await page.getByRole("button", { name: "Read again", exact: true }).click();
  await expect.poll(() => text.inputValue()).toBe("input: Hello.\n");
  await fetch(path, { method: "DELETE", headers });
});

test("a file with an error is opened from the list and repaired there", async () => {
  mkdirSync(join(address.workspace, "prompts"), { recursive: true });
  writeFileSync(join(address.workspace, "prompts", "torn.yaml"), "input: [\n");
  const headers = { "x-admin-token": ADMIN_TOKEN };
  await fetch(`${address.url}/api/v1/extensions/reload`, { method: "POST", headers });
  const page = await openPage({ path: "/#/room/prompts", expected: /403/ });
  await page.getByRole("button", { name: "torn", exact: true }).click();
  await giveToken(page);
  const text = page.getByRole("textbox", { name: "prompts/torn.yaml", exact: true });
  await page.getByText(/torn.yaml, line 2/).waitFor();
  await text.fill("input: Hello.\n");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("button", { name: "Discard changes", exact: true }).waitFor({ state: "detached" });
  await fetch(`${address.url}/api/v1/sources/prompts/torn`, { method: "DELETE", headers });
});
