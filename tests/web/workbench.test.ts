/** The panels next to the chat, the palette and the keyboard shortcuts. */

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { findings } from "./axe";
import {
  address,
  answer,
  ask,
  call,
  composer,
  countOf,
  idle,
  openPage,
  requestAbout,
  script,
  useBrowser,
} from "./harness";

useBrowser();

const ADMIN_TOKEN = "open-sesame"; // as serve.py has it
const folder = join(address.workspace, "extensions", "greeter");
const WORKING = `
def greet(name: str) -> str:
    return f"Hello, {name}!"

TOOL = {
    "label": "greeter",
    "name": "greet",
    "description": "Greet a person",
    "kind": "read",
    "parameters": {"name": {"type": "string", "description": "Who", "required": True}},
    "execute": greet,
}
`;

const skill = join(address.workspace, ".dovetail", "skills", "haiku");

afterEach(() => {
  for (const made of [folder, skill]) rmSync(made, { recursive: true, force: true });
});

function write(content: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "extension.py"), content);
}

test("a broken extension keeps its last good version, and is fixed while chatting", async () => {
  write(WORKING);
  const page = await openPage({ expected: /403/ });
  await page.getByRole("button", { name: "Open the workbench", exact: true }).click();
  await page.getByRole("tab", { name: "Extensions", exact: true }).click();
  const panel = page.getByRole("tabpanel");
  await panel.getByText("Not watching: reload after a change").waitFor();
  await page.getByRole("button", { name: "Reload", exact: true }).click();
  const token = panel.getByRole("textbox", { name: "Admin token", exact: true });
  await token.fill("a wrong one");
  await token.press("Enter");
  await panel.getByText("Wrong admin token.").waitFor();
  await token.fill(ADMIN_TOKEN);
  await token.press("Enter");
  await panel.getByText("greeter", { exact: true }).waitFor();

  write(`${WORKING}\ndef broken(:\n`);
  await page.getByRole("button", { name: "Reload", exact: true }).click();
  await panel.getByText("The last good version stays in service.").waitFor();
  expect(await panel.getByText(/extension\.py:14/).count()).toBe(1);
  await script(
    { when: "greet Ada", tool_calls: [call("greet", { name: "Ada" })] },
    { when: "Hello, Ada!", text: "Greeted." },
  );
  await ask(page, "greet Ada");
  await answer(page).getByText("Greeted.").waitFor();

  write(WORKING.replace("Hello", "Welcome"));
  await page.getByRole("button", { name: "Reload", exact: true }).click();
  await panel.getByText("The last good version stays in service.").waitFor({ state: "detached" });
  await script(
    { when: "greet Bo", tool_calls: [call("greet", { name: "Bo" })] },
    { when: "Welcome, Bo!", text: "Welcomed." },
  );
  await idle(page);
  await ask(page, "greet Bo");
  await answer(page).getByText("Welcomed.").waitFor();
});

test("a tool can be tried with a form made from its schema", async () => {
  const page = await openPage();
  await page.getByRole("button", { name: "Open the workbench", exact: true }).click();
  await page.getByRole("tab", { name: "Tools", exact: true }).click();
  await page
    .getByRole("tabpanel")
    .getByRole("button", { name: /^Calculate/ })
    .click();
  await page.getByRole("textbox", { name: "expression", exact: true }).fill("2 ** 10");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("status").getByText("1024").waitFor();
});

test("the form of a tool has lists, objects, choices and switches, and reports invalid values", async () => {
  const page = await openPage();
  await page.getByRole("button", { name: "Open the workbench", exact: true }).click();
  await page.getByRole("tab", { name: "Tools", exact: true }).click();
  await page.getByRole("button", { name: /^Cut/ }).click();
  const panel = page.getByRole("tabpanel");
  await panel.getByRole("button", { name: "Add to boards", exact: true }).click();
  await panel.getByRole("button", { name: "Add to boards", exact: true }).click();
  await panel.getByRole("button", { name: "Remove boards 2", exact: true }).click();
  const board = panel.getByRole("group", { name: /^boards 1/ });
  await board.getByRole("combobox", { name: "wood", exact: true }).selectOption("oak");
  await board.getByRole("textbox", { name: "width", exact: true }).fill("wide");
  await panel.getByRole("button", { name: "Run", exact: true }).click();
  await board.getByText("Must be a whole number.").waitFor();
  await board.getByRole("textbox", { name: "width", exact: true }).fill("90");
  await panel.getByRole("combobox", { name: /^glued/ }).selectOption("true");
  await panel.getByRole("button", { name: "Add to customer", exact: true }).click();
  await panel.getByRole("button", { name: "Remove customer", exact: true }).click();
  await panel.getByRole("button", { name: "Run", exact: true }).click();
  const outcome = JSON.parse((await panel.getByRole("status").locator("pre").textContent()) ?? "");
  expect(outcome).toEqual({ boards: [{ wood: "oak", width: 90 }], customer: null, glued: true, note: "" });
});

test("a tool that asks is allowed or declined by the person who tries it, and a browser tool acts in this tab", async () => {
  const page = await openPage();
  await page.getByRole("button", { name: "Open the workbench", exact: true }).click();
  await page.getByRole("tab", { name: "Tools", exact: true }).click();
  const panel = page.getByRole("tabpanel");
  await panel.getByRole("button", { name: /^Write a note/ }).click();
  await panel.getByRole("textbox", { name: "name", exact: true }).fill("trees");
  await panel.getByRole("textbox", { name: "text", exact: true }).fill("oak");
  const run = panel.getByRole("button", { name: "Run", exact: true });
  await run.click();
  await panel.getByRole("button", { name: "Decline", exact: true }).click();
  await panel.getByRole("alert").getByText("declined").waitFor();
  await run.click();
  await panel.getByText("Allow this call?").last().waitFor();
  expect(await findings(page)).toEqual([]);
  await panel.getByRole("button", { name: "Allow", exact: true }).click();
  await panel.getByRole("status").locator("pre").waitFor();
  await panel.getByRole("button", { name: /^Open page/ }).click();
  await panel.getByRole("textbox", { name: "actionName", exact: true }).fill("Show it");
  await panel.getByRole("textbox", { name: "url", exact: true }).fill(`${address.script}/v1/models`);
  await panel.getByRole("button", { name: "Run", exact: true }).click();
  // The page comes to the front in this very tab.
  await page.locator("iframe").waitFor();
});

test("agents and models are listed, and an agent opens in the control room", async () => {
  // The control room asks for the admin token.
  const page = await openPage({ expected: /403/ });
  await page.getByRole("button", { name: "Open the workbench", exact: true }).click();
  await page.getByRole("tab", { name: "Agents", exact: true }).click();
  const panel = page.getByRole("tabpanel");
  await panel.getByRole("button", { name: /^Assistant/ }).waitFor();
  await panel.getByText("all tools", { exact: true }).first().waitFor();
  await page.getByRole("tab", { name: "Models", exact: true }).click();
  await panel.getByText("openai:scripted").waitFor();
  await panel.getByText("Price per million tokens: 2.5 in, 10 out").waitFor();
  await page.getByRole("tab", { name: "Agents", exact: true }).click();
  await panel.getByRole("button", { name: /^Assistant/ }).click();
  await page.waitForURL(/#\/room\/agents\/master$/);
});

test("the inspector shows where the time of a run went", async () => {
  await script(
    { when: "where did the time go", status: 503, body: { error: { message: "Busy." } } },
    { when: "where did the time go", text: "Into a pause." },
  );
  const page = await openPage({ width: 1400, height: 900 });
  await ask(page, "where did the time go");
  await answer(page).getByText("Into a pause.").waitFor();
  await answer(page).hover();
  await page.getByRole("button", { name: "Inspect this run", exact: true }).click();
  const panel = page.getByRole("tabpanel");
  await panel.getByText(/first token after .+ · request .+ · waited .+ · 1 retry \(503\)/).waitFor();
  const figures = panel.locator("dl");
  await figures.getByText("Created", { exact: true }).waitFor();
  await figures.getByText("Started", { exact: true }).waitFor();
  expect(await figures.getByText(/\d\d:\d\d:\d\d/).count()).toBe(2);
  expect(await findings(page)).toEqual([]);
});

test("the inspector shows what happened in a run, what the model was sent, and what it cost", async () => {
  await script(
    {
      when: "inspect 6 times 7",
      tool_calls: [call("calculate", { expression: "6 * 7" })],
      usage: { input_tokens: 100_000, output_tokens: 1000 },
    },
    { when: "42", text: "Forty-two.", usage: { input_tokens: 200_000, output_tokens: 2000 } },
  );
  const page = await openPage();
  await ask(page, "inspect 6 times 7");
  await answer(page).getByText("Forty-two.").waitFor();
  await answer(page).hover();
  await page.getByRole("button", { name: "Inspect this run", exact: true }).click();
  const panel = page.getByRole("tabpanel");
  await panel.locator("dd").getByText("Done", { exact: true }).waitFor();
  await panel.getByRole("button", { name: /calculate/ }).click();
  await panel.getByText('"expression": "6 * 7"').waitFor();
  await panel.getByRole("button", { name: /Forty-two/ }).waitFor();

  const turns = panel.getByRole("listitem").filter({ hasText: /^Turn \d/ });
  expect(await turns.allTextContents()).toEqual([
    expect.stringContaining("100k in, 1000 out · 0.26"),
    expect.stringContaining("200k in, 2000 out · 0.52"),
  ]);
  await panel.getByText("0.78", { exact: true }).waitFor();

  const requests = panel.getByRole("button", { name: /^Prompt/ });
  await countOf(requests, 2);
  await requests.first().click();
  const system = panel.getByRole("listitem").filter({ hasText: /^system/ });
  expect(await requestAbout("inspect 6 times 7")).toContain((await system.first().textContent())?.slice(6, 80));
  await requests.first().click();
  await requests.last().click();
  await panel.getByText(/2 new/).waitFor();
  const messages = panel.getByRole("listitem").filter({ hasText: /^(system|user|assistant|tool)/ });
  await countOf(messages, 2);
  await messages.first().getByText('"expression": "6 * 7"').waitFor();
  await messages.last().getByText("42", { exact: true }).waitFor();
  await panel.getByRole("button", { name: /unchanged since the previous request$/ }).click();
  await messages.getByText("inspect 6 times 7", { exact: true }).waitFor();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await panel.getByRole("button", { name: "Copy all messages", exact: true }).click();
  await panel.getByRole("button", { name: "Copied", exact: true }).waitFor();
  const copied = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
  expect(copied.at(-1)).toMatchObject({ role: "tool", content: "42" });
});

test("the palette and the keys reach everything", async () => {
  const page = await openPage();
  await composer(page).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Commands", exact: true }).fill("no such thing");
  await page.getByText("Nothing found.", { exact: true }).waitFor();
  await page.getByRole("combobox", { name: "Commands", exact: true }).fill("dark");
  await page.keyboard.press("Enter");
  await page.locator("html[data-theme=dark]").waitFor();
  await page.getByRole("heading", { name: "What can I do for you?", exact: true }).click();
  await page.locator("body").press("/");
  await expect.poll(() => composer(page).evaluate((field) => field === document.activeElement)).toBe(true);

  await script({ when: "stop by key", steps: ["Begun", { hold: "key" }] });
  await ask(page, "stop by key");
  await answer(page).getByText("Begun").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await answer(page).getByText("Stopped.").waitFor();
  await page.keyboard.press("Control+Shift+O");
  await page.getByRole("heading", { name: "What can I do for you?", exact: true }).waitFor();
});

test("a skill is completed while it is typed, and reaches the model", async () => {
  mkdirSync(skill, { recursive: true });
  writeFileSync(
    join(skill, "SKILL.md"),
    "---\nname: haiku\ndescription: Write three lines.\n---\nFive, seven, five.\n",
  );
  const headers = { "x-admin-token": ADMIN_TOKEN };
  await fetch(`${address.url}/api/v1/extensions/reload`, { method: "POST", headers });
  await script({ when: "about joints", text: "Wood meets wood at last." });
  const page = await openPage();
  await composer(page).fill("/skill/ha");
  await page.getByRole("option", { name: /haiku/ }).waitFor();
  await composer(page).press("Tab");
  await expect.poll(() => composer(page).inputValue()).toBe("/skill/haiku ");
  await composer(page).pressSequentially("about joints");
  await composer(page).press("Enter");
  await answer(page).getByText("Wood meets wood at last.").waitFor();
  expect(await requestAbout("about joints")).toContain("Five, seven, five.");
});

test("the agent is chosen per chat, and stays after a reload", async () => {
  await script(
    { when: "who are you, scribe", text: "I write notes." },
    { when: "and you, assistant", text: "I help." },
    { when: "once more, scribe", text: "Still writing." },
  );
  const page = await openPage();
  await page.getByRole("button", { name: "Agent: Assistant", exact: true }).click();
  await page.getByRole("menuitem", { name: /^Scribe/ }).click();
  await ask(page, "who are you, scribe?");
  await answer(page).getByText("I write notes.").waitFor();
  expect(await requestAbout("who are you, scribe")).toContain("You write notes.");

  await page.getByRole("button", { name: "New chat", exact: true }).first().click();
  // A new chat begins with the agent that was chosen last.
  await page.getByRole("button", { name: "Agent: Scribe", exact: true }).click();
  await page.getByRole("menuitem", { name: /^Assistant/ }).click();
  await page.getByRole("button", { name: "Agent: Assistant", exact: true }).waitFor();
  await ask(page, "and you, assistant?");
  await answer(page).getByText("I help.").waitFor();
  expect(await requestAbout("and you, assistant")).not.toContain("You write notes.");

  await page.getByRole("navigation").getByRole("button", { name: "who are you, scribe?", exact: true }).click();
  await answer(page).getByText("I write notes.").waitFor();
  await page.reload();
  await page.getByRole("button", { name: "Agent: Scribe", exact: true }).waitFor();
  await ask(page, "once more, scribe");
  await answer(page).getByText("Still writing.").waitFor();
  expect(await requestAbout("once more, scribe")).toContain("You write notes.");
});
