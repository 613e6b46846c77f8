/** The first screen: examples of what the chosen agent can do. */

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { address, composer, openPage, useBrowser } from "./harness";

const ADMIN_TOKEN = "open-sesame"; // as serve.py has it
const CLERK = "---\nname: clerk\ndescription: Keeps notes.\ntools: [TOOLS]\n---\nYou keep notes.\n";

useBrowser();

function examples(page: Page): Promise<string[]> {
  return page.getByRole("list", { name: "Examples", exact: true }).locator("button span.font-medium").allTextContents();
}

async function choose(page: Page, picker: RegExp, choice: RegExp): Promise<void> {
  await page.getByRole("button", { name: picker }).click();
  await page.getByRole("menuitem", { name: choice }).click();
}

async function reload(): Promise<void> {
  const headers = { "x-admin-token": ADMIN_TOKEN };
  await fetch(`${address.url}/api/v1/extensions/reload`, { method: "POST", headers });
}

test("the examples follow the agent and the mode of the chat, and the files of the project", async () => {
  const file = join(address.workspace, "agents", "clerk.md");
  const skill = join(address.workspace, "skills", "tidy_notes");
  mkdirSync(skill, { recursive: true });
  writeFileSync(join(skill, "SKILL.md"), "---\nname: tidy_notes\ndescription: How to tidy notes.\n---\nSort them.\n");
  writeFileSync(file, CLERK.replace("TOOLS", "write_note, load_skill, ask_user"));
  onTestFinished(async () => {
    rmSync(file, { force: true });
    rmSync(skill, { recursive: true, force: true });
    await reload();
  });
  await reload();

  const page = await openPage();
  const general = ["Write a file", "Calculate exactly", "Run a command", "Check the weather"];
  await expect.poll(() => examples(page)).toEqual(general);
  await choose(page, /^Agent:/, /^clerk/i);
  await expect.poll(() => examples(page)).toEqual(["Write a note", "Tidy notes"]);
  await page.getByRole("button", { name: /^Write a note/ }).click();
  expect(await composer(page).inputValue()).toBe("Keep a note under a name.");

  await choose(page, /^Mode:/, /^Plan/);
  await expect.poll(() => examples(page)).toEqual(["Tidy notes"]);
  await page.getByRole("button", { name: /^Tidy notes/ }).click();
  expect(await composer(page).inputValue()).toBe("/skill/tidy_notes ");

  writeFileSync(file, CLERK.replace("TOOLS", "calculate"));
  await reload();
  await expect.poll(() => examples(page)).toEqual(["Calculate exactly"]);
});
