/** Cards and browser tools that extension folders bring: loaded without a build, and reloaded with their folder. */

import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterEach, expect, test } from "vitest";
import { address, answer, ask, call, idle, openPage, script, useBrowser } from "./harness";

useBrowser();

const ADMIN_TOKEN = "open-sesame"; // as serve.py has it
const dice = join(address.workspace, "extensions", "dice");
const marker = join(address.workspace, "extensions", "marker");
const example = join(import.meta.dirname, "..", "..", "extensions", "example");
const TOOL = `
TOOL = {
    "label": "games",
    "name": "roll_dice",
    "description": "Roll dice",
    "kind": "read",
    "parameters": {"count": {"type": "integer"}},
    "execute": lambda count=1: {"rolled": [4] * count},
}
`;

/** A module whose card shows this word and the numbers. */
const card = (word: string) => `
import { say } from "./lib/words.js";
export default function register({ React, card }) {
  card("roll_dice", ({ output, input, state }) =>
    React.createElement("p", { className: "dice", style: { color: "rgb(1, 2, 3)" } },
      say("${word}"), " ", output.rolled.join(" "), " of ", input.count, " ", state));
}
`;

function write(module: string): void {
  mkdirSync(join(dice, "web", "lib"), { recursive: true });
  writeFileSync(join(dice, "extension.py"), TOOL);
  writeFileSync(join(dice, "web", "dice.js"), module);
  writeFileSync(join(dice, "web", "lib", "words.js"), 'export const say = (word) => "You " + word;');
}

async function reload(): Promise<void> {
  const headers = { "x-admin-token": ADMIN_TOKEN };
  const response = await fetch(`${address.url}/api/v1/extensions/reload`, { method: "POST", headers });
  expect(response.status).toBe(200);
}

/** Opens the panel of the extensions with the admin token in place. */
async function openPanel(page: Page): Promise<void> {
  await page.evaluate((token) => sessionStorage.setItem("dovetail.admin-token", token), ADMIN_TOKEN);
  await page.getByRole("button", { name: "Open the workbench", exact: true }).click();
  await page.getByRole("tab", { name: "Extensions", exact: true }).click();
}

/** Rolls two dice in the open chat. */
async function roll(page: Page): Promise<void> {
  await script(
    { when: "roll two", tool_calls: [call("roll_dice", { count: 2 })] },
    { when: "rolled", text: "Two fours." },
  );
  await ask(page, "roll two");
  await answer(page).getByText("Two fours.").waitFor();
}

afterEach(async () => {
  for (const made of [dice, marker]) rmSync(made, { recursive: true, force: true });
  await reload();
});

test("the shipped weather folder draws its calls, and the line of the call opens the raw data", async () => {
  await script(
    { when: "warm in Oslo", tool_calls: [call("get_weather", { city: "Oslo" })] },
    { when: "current temperature", text: "It is warm." },
  );
  const page = await openPage();
  await ask(page, "warm in Oslo?");
  await answer(page).getByText("It is warm.").waitFor();
  const drawn = answer(page).locator(".weather");
  expect(await drawn.locator(".weather-degrees").textContent()).toBe("26°C");
  expect(await drawn.locator(".weather-scale").evaluate((scale) => getComputedStyle(scale).height)).toBe("4px");
  await answer(page)
    .getByRole("button", { name: /Get weather/ })
    .click();
  await answer(page).getByText("Oslo current temperature is 26°C (mock).").waitFor();
});

test("the card of the guide draws the tool of the guide", async () => {
  const guide = readFileSync(join(import.meta.dirname, "..", "..", "docs", "extensions.md"), "utf8");
  const block = (start: string) => guide.slice(guide.indexOf(start)).split("```")[0] ?? "";
  mkdirSync(join(dice, "web"), { recursive: true });
  writeFileSync(join(dice, "extension.py"), block("import random"));
  writeFileSync(join(dice, "web", "dice.js"), block("/** @param"));
  await reload();
  await script(
    { when: "roll one", tool_calls: [call("roll_dice", { sides: 1 })] },
    { when: "1", text: "It is a one." },
  );
  const page = await openPage();
  await ask(page, "roll one");
  await answer(page).getByText("It is a one.").waitFor();
  await answer(page).getByText("1 sides", { exact: true }).waitFor();
});

test("a card follows its folder while the page stays open: added, changed, removed", async () => {
  write(card("rolled"));
  await reload();
  const page = await openPage();
  await roll(page);
  const drawn = answer(page).locator(".dice");
  await drawn.getByText("You rolled 4 4 of 2 done").waitFor();
  expect(await drawn.evaluate((element) => getComputedStyle(element).color)).toBe("rgb(1, 2, 3)");

  await openPanel(page);
  const panel = page.getByRole("tabpanel");
  await panel.getByText("Card: Roll dice").waitFor();
  write(card("threw"));
  await page.getByRole("button", { name: "Reload", exact: true }).click();
  await drawn.getByText("You threw 4 4 of 2 done").waitFor();

  rmSync(dice, { recursive: true });
  await page.getByRole("button", { name: "Reload", exact: true }).click();
  await drawn.waitFor({ state: "detached" });
  await answer(page)
    .getByRole("button", { name: /Roll dice/ })
    .waitFor();
});

test("a reload from elsewhere reaches an open page without a click", async () => {
  write(card("rolled"));
  await reload();
  const page = await openPage();
  await roll(page);
  await answer(page).locator(".dice").getByText("You rolled 4 4 of 2 done").waitFor();
  write(card("threw"));
  await reload();
  await answer(page).locator(".dice").getByText("You threw 4 4 of 2 done").waitFor();
});

test("a module that cannot be read is reported with its file, and the page draws the call itself", async () => {
  write("export default function register( {");
  await reload();
  const page = await openPage();
  await roll(page);
  await answer(page)
    .getByRole("button", { name: /Roll dice/ })
    .waitFor();
  await openPanel(page);
  const panel = page.getByRole("tabpanel");
  await panel.getByText("extensions/dice/web/dice.js").waitFor();
  await panel.getByText(/SyntaxError/).waitFor();
  await panel.getByText("The page draws these calls itself.").waitFor();

  write(card("rolled"));
  await page.getByRole("button", { name: "Reload", exact: true }).click();
  await answer(page).locator(".dice").waitFor();
  await panel.getByText("extensions/dice/web/dice.js").waitFor({ state: "detached" });
});

test("a card that fails while it is drawn leaves the call readable and is reported", async () => {
  write(`export default ({ card }) => card("roll_dice", ({ output }) => output.nothing.here);`);
  await reload();
  const page = await openPage({ expected: /nothing|reading 'here'|The above error|dice\.js/ });
  await roll(page);
  await answer(page)
    .getByRole("button", { name: /Roll dice/ })
    .click();
  await answer(page)
    .getByText(/rolled/)
    .first()
    .waitFor();
  await openPanel(page);
  await page
    .getByRole("tabpanel")
    .getByText(/reading 'here'/)
    .waitFor();
});

test("a browser tool of a folder acts in the page, also if the folder came after the page was opened", async () => {
  const page = await openPage();
  await script({ when: "say joint", text: "A joint is a joint." });
  await ask(page, "say joint");
  await answer(page).getByText("A joint is a joint.").waitFor();
  cpSync(example, marker, { recursive: true });
  for (const file of ["extension.py", "web/highlight.js"]) {
    const code = readFileSync(join(example, file), "utf8"); // the server of the tests has a tool of that name
    writeFileSync(join(marker, file), code.replaceAll('"highlight"', '"mark_text"'));
  }
  await reload();
  await script(
    { when: "mark it", tool_calls: [call("mark_text", { text: "joint" })] },
    { when: "marked", text: "Marked." },
  );
  await idle(page);
  await ask(page, "mark it");
  await answer(page).getByText("Marked.").waitFor();
  const marked = await page.evaluate(() => CSS.highlights.get("example-highlight")?.size);
  expect(marked).toBeGreaterThanOrEqual(3);
});
