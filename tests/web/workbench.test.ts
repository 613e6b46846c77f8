/** The panels beside the chat, the palette and the keys. */

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { address, answer, ask, call, composer, openPage, requestAbout, script, useBrowser } from "./harness";

useBrowser();

const folder = join(address.workspace, "extensions", "greeter");
const WORKING = `
def greet(name: str) -> str:
    return f"Hello, {name}!"

TOOL = {
    "label": "greeter",
    "name": "greet",
    "description": "Greet somebody",
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

test("an extension that breaks keeps its last good version, and is mended while chatting", async () => {
  write(WORKING);
  const page = await openPage();
  await page.getByRole("button", { name: "Open the workbench", exact: true }).click();
  await page.getByRole("tab", { name: "Extensions", exact: true }).click();
  await page.getByRole("button", { name: "Reload", exact: true }).click();
  const panel = page.getByRole("tabpanel");
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
  await ask(page, "greet Bo");
  await answer(page).getByText("Welcomed.").waitFor();
});

test("a tool can be tried with a form from its schema", async () => {
  const page = await openPage();
  await page.getByRole("button", { name: "Open the workbench", exact: true }).click();
  await page.getByRole("tab", { name: "Tools", exact: true }).click();
  await page.getByRole("button", { name: /^Calculate/ }).click();
  await page.getByRole("textbox", { name: "expression", exact: true }).fill("2 ** 10");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("status").getByText("1024").waitFor();
});

test("agents and models are listed", async () => {
  const page = await openPage();
  await page.getByRole("button", { name: "Open the workbench", exact: true }).click();
  await page.getByRole("tab", { name: "Agents", exact: true }).click();
  await page.getByRole("tabpanel").getByText("master", { exact: true }).waitFor();
  await page.getByRole("tab", { name: "Models", exact: true }).click();
  await page.getByRole("tabpanel").getByText("openai:scripted").waitFor();
});

test("the inspector shows what happened in a run", async () => {
  await script(
    { when: "inspect 6 times 7", tool_calls: [call("calculate", { expression: "6 * 7" })] },
    { when: "42", text: "Forty-two." },
  );
  const page = await openPage();
  await ask(page, "inspect 6 times 7");
  await answer(page).getByText("Forty-two.").waitFor();
  await answer(page).hover();
  await page.getByRole("button", { name: "Inspect this run", exact: true }).click();
  const panel = page.getByRole("tabpanel");
  await panel.getByText("goal").waitFor();
  await panel.getByRole("button", { name: /calculate/ }).click();
  await panel.getByText('"expression": "6 * 7"').waitFor();
  await panel.getByRole("button", { name: /Forty-two/ }).waitFor();
});

test("the palette and the keys reach everything", async () => {
  const page = await openPage();
  await composer(page).waitFor();
  await page.keyboard.press("Control+k");
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
  await fetch(`${address.url}/api/v1/extensions/reload`, { method: "POST" });
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
