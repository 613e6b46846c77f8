/** The control room of an operator: runs, costs, rules and processes. */

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterEach, expect, test } from "vitest";
import { findings } from "./axe";
import {
  address,
  answer,
  ask,
  call,
  composer,
  countOf,
  loadChineseFont,
  openPage,
  release,
  script,
  useBrowser,
} from "./harness";

useBrowser();

const ADMIN_TOKEN = "open-sesame"; // as serve.py has it
const policy = join(address.workspace, "policy.toml");
/** The server refuses what needs the admin until the page has the token. */
const REFUSED = { expected: /403/ };

afterEach(async () => {
  rmSync(policy, { force: true });
  await reload();
});

/** Has the server read the policy file again. */
async function reload(): Promise<void> {
  const headers = { "x-admin-token": ADMIN_TOKEN };
  await fetch(`${address.url}/api/v1/extensions/reload`, { method: "POST", headers });
}

/** Has questions answered over HTTP, each in a chat of its own, with so many tokens. */
async function runChats(...tokens: number[]): Promise<void> {
  for (const count of tokens) {
    const usage = { input_tokens: count, output_tokens: 10 };
    await script({ when: `spend ${count} tokens`, text: "Spent.", usage });
    const response = await fetch(`${address.url}/api/v1/chat`, {
      method: "POST",
      headers: { accept: "application/json", "content-type": "application/json" },
      body: JSON.stringify({ message: `Please spend ${count} tokens`, session_id: `spending-${count}` }),
    });
    if (!response.ok) throw new Error(await response.text());
  }
}

function table(page: Page, name: string) {
  return page.getByRole("main").getByRole("table", { name, exact: true });
}

async function giveToken(page: Page): Promise<void> {
  const token = page.getByRole("textbox", { name: "Admin token", exact: true });
  await token.fill(ADMIN_TOKEN);
  await token.press("Enter");
}

test("the most expensive run of the day is two clicks away, and leads to its journal and its chat", async () => {
  await runChats(1000, 400_000, 2000);
  const page = await openPage();
  await page.getByRole("link", { name: "Control room", exact: true }).click();
  await page.getByRole("button", { name: "Most expensive today", exact: true }).click();
  const first = table(page, "Runs").getByRole("row").nth(1);
  await first.getByText("Please spend 400000 tokens").waitFor();
  expect(await first.innerText()).toContain("1.00");
  await first.getByRole("button", { name: /Please spend/ }).click();
  await page.getByRole("tabpanel", { name: "Run" }).getByText("Turn 1").waitFor();
  // Next to the journal there is no room for a table.
  const item = page.getByRole("listitem").filter({ hasText: "Please spend 400000 tokens" });
  await item.getByRole("button", { name: "Open the chat", exact: true }).click();
  await answer(page).getByText("Spent.").waitFor();
});

test("runs are searched and filtered, and the address keeps the filter", async () => {
  await runChats(1000, 2000, 3000);
  const page = await openPage({ path: "/#/room/runs" });
  const rows = table(page, "Runs").getByRole("row", { name: /Please spend/ });
  await expect.poll(() => rows.count()).toBe(3);
  await page.getByRole("textbox", { name: "Search titles, messages and run ids", exact: true }).fill("2000");
  await expect.poll(() => rows.count()).toBe(1);
  await page.getByText("1 run", { exact: true }).waitFor();
  await page.reload();
  await table(page, "Runs").getByText("Please spend 2000 tokens").waitFor();
  expect(await rows.count()).toBe(1);
  await page.getByRole("combobox", { name: "State", exact: true }).selectOption("Failed");
  await page.getByText("No runs match.").waitFor();
  await page.getByRole("button", { name: "Reset", exact: true }).click();
  await expect.poll(() => rows.count()).toBe(3);
});

test("a run in progress appears by itself and can be stopped", async () => {
  const page = await openPage({ path: "/#/room/runs" });
  await page.getByRole("button", { name: "Most expensive today", exact: true }).waitFor();
  await script({ when: "never ends", steps: ["Well", { hold: "operator" }, "."] });
  const sent = fetch(`${address.url}/api/v1/chat`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ message: "This never ends", background: true }),
  });
  expect((await sent).status).toBe(202);
  const row = table(page, "Runs").getByRole("row", { name: /This never ends/ });
  await row.getByRole("img", { name: "Working", exact: true }).waitFor();
  await row.getByRole("button", { name: "Stop the answer", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Stop this run?", exact: true });
  await dialog.getByRole("button", { name: "Stop the answer", exact: true }).click();
  await row.getByRole("img", { name: "Stopped", exact: true }).waitFor();
  await release("operator");
});

test("costs are shown by day and model, and a model leads to its runs", async () => {
  await runChats(400_000, 200_000);
  const page = await openPage({ path: "/#/room/costs" });
  const model = table(page, "By model").getByRole("row", { name: /openai:scripted/ });
  await model.waitFor();
  await page.getByRole("slider", { name: "Cost by day", exact: true }).waitFor();
  await page.getByRole("button", { name: "Tokens", exact: true }).click();
  await page.getByRole("slider", { name: "Tokens by day", exact: true }).waitFor();
  await model.getByRole("button").click();
  await table(page, "Runs").getByText("Please spend 200000 tokens").waitFor();
  expect(await page.getByRole("combobox", { name: "Model", exact: true }).inputValue()).toBe("openai:scripted");
});

test("a rule is added with the form and decides the call that was tried before", async () => {
  const page = await openPage({ path: "/#/room/policy/try", ...REFUSED });
  const tool = page.getByRole("combobox", { name: "Tool", exact: true });
  await tool.selectOption("Write a note");
  await page.getByRole("textbox", { name: "name", exact: true }).fill("list");
  await page.getByRole("button", { name: "What would happen?", exact: true }).click();
  await page.getByRole("heading", { name: "You would be asked first.", exact: true }).waitFor();
  await page.getByRole("button", { name: "Add a rule", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Add a rule", exact: true });
  await dialog.getByRole("combobox", { name: "What happens", exact: true }).selectOption("Allow");
  await dialog.getByRole("combobox", { name: "Tool", exact: true }).selectOption("Write a note");
  const pattern = dialog.getByRole("textbox", { name: "matches this pattern", exact: true });
  await countOf(pattern, 0);
  await dialog.getByRole("combobox", { name: /^If this part/ }).selectOption("name");
  expect(await dialog.getByRole("button", { name: "Add a rule", exact: true }).isDisabled()).toBe(true);
  await pattern.fill("li.t");
  await dialog.getByText("Allow Write note if “name” matches “li.t”.").waitFor();
  expect(await findings(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Add a rule", exact: true }).click();
  await giveToken(page);
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "What would happen?", exact: true }).click();
  await page.getByRole("heading", { name: "The call would run.", exact: true }).waitFor();
  await page.getByText("This rule decides.").waitFor();
  expect(readFileSync(policy, "utf8")).toContain('arguments = { "name" = "li.t" }');
});

test("the policy file is edited as text; errors and changes by others are not overwritten", async () => {
  const page = await openPage({ path: "/#/room/policy/file", expected: /403|409|422/ });
  await giveToken(page);
  const field = page.getByRole("textbox", { name: "policy.toml", exact: true });
  await field.fill('[[rule]]\naction = "forbid"\n');
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText(/policy\.toml:1.*forbid/).waitFor();
  await field.fill('[[rule]]\naction = "deny"\ntool = "write_note"\nreason = "Notes are kept elsewhere."\n');
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await countOf(page.getByRole("button", { name: "Discard changes", exact: true }), 0); // it is saved
  writeFileSync(policy, "# By hand.\n");
  await field.fill("# Mine.\n");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText(/has changed since you opened it/).waitFor();
  await page.getByRole("button", { name: "Read again", exact: true }).click();
  await expect.poll(() => field.inputValue()).toBe("# By hand.\n");
  expect(readFileSync(policy, "utf8")).toBe("# By hand.\n");
});

test("a rule of the file is removed after a question, with its tools, and the comments stay", async () => {
  const kept = '# Ours.\n\n# Counting is dull.\n[[rule]]\naction = "ask"\ntool = "count_up"\n';
  writeFileSync(policy, `${kept}\n[[rule]]\naction = "deny"\ntool = ["write_note", "cut"]\n`);
  await reload();
  const page = await openPage({ path: "/#/room/policy", ...REFUSED });
  const row = page.getByRole("listitem").filter({ hasText: "Deny Write note." });
  await row.getByRole("button", { name: "Remove this rule", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Remove this rule?", exact: true });
  await dialog.getByText("Deny Cut.").waitFor();
  expect(await findings(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Cancel", exact: true }).click();
  await row.getByRole("button", { name: "Remove this rule", exact: true }).click();
  await dialog.getByRole("button", { name: "Remove", exact: true }).click();
  await giveToken(page);
  await dialog.waitFor({ state: "detached" });
  await countOf(row, 0);
  await page.getByText("Ask before Count up runs.").waitFor();
  await countOf(page.getByRole("button", { name: "Remove this rule", exact: true }), 1);
  expect(readFileSync(policy, "utf8")).toBe(kept);
});

test("what was always allowed is listed and taken back", async () => {
  const note = { name: "always", text: "oak" };
  await script({ when: "note it always", tool_calls: [call("write_note", note)] }, { text: "Noted." });
  const page = await openPage();
  await ask(page, "note it always");
  const { asks } = await waitForAsk();
  await fetch(`${address.url}/api/v1/asks/${asks[0]?.id}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ approved: true, remember: "always" }),
  });
  await answer(page).getByText("Noted.").waitFor();
  await page.goto(`${address.url}/#/room/policy/always`);
  const entry = page.getByRole("listitem").filter({ hasText: '"text": "oak"' });
  await entry.getByRole("button", { name: "Undo", exact: true }).click();
  await entry.getByText(/Taken back on/).waitFor();
});

async function waitForAsk(): Promise<{ asks: { id: string }[] }> {
  return expect
    .poll(async () => (await fetch(`${address.url}/api/v1/asks`)).json())
    .toMatchObject({ asks: [{ kind: "approval" }] })
    .then(async () => (await fetch(`${address.url}/api/v1/asks`)).json());
}

test("processes are shown to those who have the admin token", async () => {
  const page = await openPage({ path: "/#/room/workers", ...REFUSED });
  await giveToken(page);
  await page.getByText(/^Web server on .*\(this one\)$/).waitFor();
  expect(await findings(page)).toEqual([]);
});

test("the room fits a phone, in Chinese and in the dark, and the accessibility checker finds nothing", async () => {
  await runChats(1000, 2000);
  const page = await openPage({ path: "/#/room/runs", width: 390, height: 780, locale: "zh-CN", isDark: true });
  await page.getByRole("listitem").filter({ hasText: "Please spend 1000 tokens" }).waitFor();
  for (const [panel, sign] of [
    ["runs", "Please spend 1000 tokens"],
    ["costs", "按模型"],
    ["policy", "执行前询问"],
    ["policy/try", "会发生什么？"],
    ["schedules", "添加"],
  ] as const) {
    await page.goto(`${address.url}/#/room/${panel}`);
    await page.getByRole("main").getByText(sign).filter({ visible: true }).first().waitFor();
    await loadChineseFont(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth), panel).toBeLessThanOrEqual(390);
    expect(await findings(page), panel).toEqual([]);
  }
});

test.each(["runs", "costs", "policy", "policy/try"])("the accessibility checker finds nothing in %s", async (panel) => {
  await runChats(1000);
  const page = await openPage({ path: `/#/room/${panel}` });
  await page.getByRole("main").getByRole("heading").first().waitFor();
  await page.getByRole("main").getByRole("combobox").or(page.getByRole("main").getByRole("listitem")).first().waitFor();
  expect(await findings(page)).toEqual([]);
  expect(await composer(page).count()).toBe(0);
});
