/** What can be done with a message, and what belongs to a chat: its files, skills, agent and model. */

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { findings } from "./axe";
import {
  address,
  answer,
  ask,
  countOf,
  idle,
  openPage,
  openTab,
  release,
  requestAbout,
  script,
  useBrowser,
} from "./harness";

useBrowser();

const ADMIN_TOKEN = "open-sesame"; // as serve.py has it

const skill = join(address.workspace, "skills", "tidy");
afterAll(() => rmSync(skill, { recursive: true, force: true }));

const question = (page: Page) => page.getByRole("article", { name: "You", exact: true });
const act = (page: Page, name: string, place = question(page).last()) =>
  place.getByRole("button", { name, exact: true });

test("an edited question keeps its files, and they can be removed and added", async () => {
  await script({ when: "how many rows", text: "Two." }, { when: "how many columns", text: "Three." });
  const page = await openPage();
  const csv = { name: "data.csv", mimeType: "text/csv", buffer: Buffer.from("a,b,c\n1,2,3\n") };
  const notes = { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("oak and elm") };
  await page.locator("input[type=file]").setInputFiles([csv, notes]);
  await ask(page, "how many rows?");
  await answer(page).getByText("Two.").waitFor();
  await question(page).hover();
  await act(page, "Edit").click();
  await page.getByRole("textbox", { name: "Edit", exact: true }).fill("how many columns?");
  await page.getByRole("button", { name: "Remove notes.txt", exact: true }).click();
  const more = { name: "more.txt", mimeType: "text/plain", buffer: Buffer.from("ash and yew") };
  await page.locator("input[type=file]").first().setInputFiles(more);
  await page.getByRole("button", { name: "Remove more.txt", exact: true }).waitFor();
  expect(await findings(page)).toEqual([]);
  await page.getByRole("textbox", { name: "Edit", exact: true }).press("Enter");
  await answer(page).getByText("Three.").waitFor();
  const sent = await requestAbout("how many columns");
  expect([sent.includes("1,2,3"), sent.includes("ash and yew"), sent.includes("oak and elm")]).toEqual([
    true,
    true,
    false,
  ]);
});

test("a skill that a question names is shown with it, and one that does not exist is said in words", async () => {
  mkdirSync(skill, { recursive: true });
  writeFileSync(join(skill, "SKILL.md"), "---\nname: tidy\ndescription: Tidy up.\n---\nPut things away.\n");
  await fetch(`${address.url}/api/v1/extensions/reload`, { method: "POST", headers: { "x-admin-token": ADMIN_TOKEN } });
  await script({ when: "the desk", steps: [{ hold: "desk" }, "Done."] }, { when: "the shelf", text: "Sure." });
  const page = await openPage();
  await ask(page, "/skill/tidy the desk");
  // Already while the answer is awaited.
  await question(page).getByText("Skill: tidy").waitFor();
  await release("desk");
  await answer(page).getByText("Done.").waitFor();
  await idle(page);
  await ask(page, "/skill/tidyy the shelf");
  await question(page).getByText("The skill “tidyy” does not exist. Did you mean “tidy”?").waitFor();
  await answer(page).getByText("Sure.").waitFor();
  await page.reload();
  await question(page).getByText("The skill “tidyy” does not exist.").waitFor();
  expect(await findings(page)).toEqual([]);
});

test("a message is deleted with what follows it, after a question", async () => {
  await script({ when: "first", text: "One." }, { when: "second", text: "Two." });
  const page = await openPage();
  await ask(page, "first");
  await answer(page).getByText("One.").waitFor();
  await idle(page);
  await ask(page, "second");
  await answer(page).getByText("Two.").waitFor();
  await question(page).last().hover();
  await act(page, "Delete message").click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel", exact: true }).click();
  await countOf(question(page), 2);
  await question(page).last().hover();
  await act(page, "Delete message").click();
  await page.getByRole("dialog").getByText("Everything that follows it is deleted as well.").waitFor();
  expect(await findings(page)).toEqual([]);
  await page.getByRole("dialog").getByRole("button", { name: "Delete message", exact: true }).click();
  await countOf(question(page), 1);
  await page.reload();
  await answer(page).getByText("One.").waitFor();
  await countOf(question(page), 1);
});

test("the agent belongs to the chat, and a new chat begins with the last one", async () => {
  await script({ when: "as a scribe", text: "Written." }, { when: "as usual", text: "Said." });
  const page = await openPage();
  const picker = page.getByRole("button", { name: /^Agent/ });
  await picker.click();
  await page.getByRole("menuitem", { name: /scribe/i }).click();
  await ask(page, "as a scribe");
  await answer(page).getByText("Written.").waitFor();
  const first = await page.evaluate(() => location.hash);
  const id = first.replace("#/s/", "");
  const { agent, options } = await (await fetch(`${address.url}/api/v1/sessions/${id}`)).json();
  expect([agent, Object.keys(options)]).toEqual(["scribe", ["time_zone"]]);
  const other = await openTab(page, "/");
  await other.getByRole("button", { name: /^Agent.*scribe/i }).waitFor();
});

test("a second tab neither forks the chat nor says that it is busy: what is asked there goes into the answer", async () => {
  await script({ when: "hello there", text: "Hello." });
  await script(
    { when: "a long story", steps: ["Once", { hold: "story" }, " upon a time."] },
    { when: "shorter please", text: "Fox. End." },
  );
  const page = await openPage();
  await ask(page, "hello there");
  await answer(page).waitFor();
  const path = `/${await page.evaluate(() => location.hash)}`;
  const other = await openPage({ path, expected: /409/ });
  await answer(other).waitFor();
  await ask(page, "a long story");
  await answer(page).last().getByText("Once").waitFor();
  const stored = other.waitForResponse((response) => /\/runs\/[^/]+\/messages$/.test(response.url()) && response.ok());
  await ask(other, "shorter please");
  await stored;
  await answer(other).last().getByText("Once").waitFor();
  expect(await other.getByText("busy").count()).toBe(0);
  await release("story");
  await answer(page).last().getByText("Fox. End.").waitFor();
  await answer(other).last().getByText("Fox. End.").waitFor();
  // Nothing was forked: both tabs show the same questions.
  await countOf(question(other), 2);
  await countOf(question(page), 2);
});
