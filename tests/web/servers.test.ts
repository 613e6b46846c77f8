/** MCP servers and the set-up of models in the control room, with real MCP servers. */

import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findings } from "./axe";
import { countOf, loadChineseFont, openPage, script, useBrowser } from "./harness";
import { Program } from "./python";

useBrowser();

let server: Program;
let own: { url: string; vault: string; script: string };

beforeAll(async () => {
  server = new Program("serve_mcp.py", "ignore");
  own = JSON.parse(await server.read());
});

afterAll(() => server.end());

async function openRoom(panel: string, options: Parameters<typeof openPage>[0] = {}): Promise<Page> {
  return openPage({ origin: own.url, path: `/#/room/${panel}`, ...options });
}

function row(page: Page, name: string): Locator {
  return page.getByRole("main").getByRole("listitem").filter({ hasText: name });
}

async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env["SERVERS_SHOTS"];
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`) });
}

test("each server shows its state, its tools and its log, and can be reconnected", async () => {
  const page = await openRoom("servers");
  const shed = row(page, "shed.py");
  await shed.getByText("Connected", { exact: true }).waitFor();
  await shed.getByText(/^\d+ tools$/).click();
  await shed.getByText(/\badd, burn\b/).waitFor();
  await shed.getByText("Log", { exact: false }).first().click();
  await shed.getByText("The shed is open; its key is ***").waitFor();
  const gone = row(page, "no-such-program-here");
  await gone.getByText("Not available", { exact: true }).waitFor();
  await gone.getByText(/cannot be reached/).waitFor();
  await row(page, "idle.example").getByText("Disabled", { exact: true }).waitFor();
  expect(await page.getByRole("main").innerText()).not.toMatch(/the-key-variable|the-token-argument/);
  expect(await findings(page)).toEqual([]);
  await picture(page, "servers-light");
  await shed.getByRole("button", { name: "Reconnect", exact: true }).click();
  await shed.getByText("2 lines", { exact: false }).waitFor();
  await shed.getByText("Connected", { exact: true }).waitFor();
});

test("a login opens in a new tab, and both tabs show that it succeeded until the user logs out", async () => {
  const page = await openRoom("servers");
  const vault = row(page, "vault");
  await vault.getByText("Login required", { exact: true }).waitFor();
  const opened = page.context().waitForEvent("page");
  await vault.getByRole("button", { name: "Log in", exact: true }).click();
  const tab = await opened;
  await row(tab, "vault").getByText("Connected", { exact: true }).waitFor();
  await row(tab, "vault").getByText("open_vault", { exact: true }).waitFor();
  expect(new URL(tab.url()).hash).toBe("#/room/servers/vault");
  await vault.getByText("Connected", { exact: true }).waitFor();
  await vault.getByText(/You are logged in/).waitFor();
  await picture(page, "servers-login");
  await vault.getByRole("button", { name: "Log out", exact: true }).click();
  await vault.getByText("Login required", { exact: true }).waitFor();
});

test("on a phone, in the dark and in Chinese the servers fit and are accessible", async () => {
  const page = await openRoom("servers", { width: 390, height: 800, isDark: true, locale: "zh" });
  await row(page, "shed.py").getByText("已连接", { exact: true }).waitFor();
  await loadChineseFont(page);
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(width).toBeLessThanOrEqual(390);
  expect(await findings(page)).toEqual([]);
  await picture(page, "servers-phone");
});

test("an embedded model is downloaded, and a model answers one question", async () => {
  const page = await openRoom("models");
  await page.getByRole("button", { name: "Download: local:tiny", exact: true }).click();
  await page.getByRole("button", { name: "Ask it one question: local:tiny", exact: true }).waitFor();
  const reply = [{ when: "capital of France", text: "It is Paris." }];
  await fetch(`${own.script}/script/replies`, { method: "POST", body: JSON.stringify(reply) });
  await page.getByRole("button", { name: "Ask it one question: openai:scripted", exact: true }).click();
  await page.getByRole("status").getByText("It is Paris.").waitFor();
  expect(await findings(page)).toEqual([]);
  await picture(page, "models-light");
});

test("a server with an admin token asks for it before a model is asked", async () => {
  await script({ when: "capital of France", text: "It is Paris." });
  const page = await openPage({ path: "/#/room/models", expected: /403/ });
  await page.getByRole("button", { name: "Ask it one question: openai:scripted", exact: true }).click();
  const token = page.getByRole("textbox", { name: "Admin token", exact: true });
  await token.fill("open-sesame");
  await token.press("Enter");
  await page.getByRole("status").getByText("It is Paris.").waitFor();
});

test("a key is entered, shown by its end only, and removed", async () => {
  const page = await openRoom("models", { width: 390, height: 800, expected: /422/ });
  await page.getByRole("button", { name: "Keys of providers", exact: true }).click();
  const groq = row(page, "Groq");
  await groq.getByText("No key", { exact: true }).waitFor();
  await groq.getByRole("button", { name: "Enter a key: Groq", exact: true }).click();
  await page.getByLabel("Key of Groq", { exact: true }).fill("two words");
  await page.keyboard.press("Enter");
  await groq.getByRole("alert").waitFor();
  await page.getByLabel("Key of Groq", { exact: true }).fill("gsk-the-long-key-4f2a");
  await page.keyboard.press("Enter");
  await groq.getByText("Set, ends with …4f2a", { exact: true }).waitFor();
  await countOf(page.getByLabel("Key of Groq", { exact: true }), 0);
  await groq.getByText("The key is accepted; 1 model is offered.", { exact: true }).waitFor();
  expect(await page.content()).not.toContain("gsk-the-long-key");
  expect(await findings(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await picture(page, "models-phone");
  await groq.getByRole("button", { name: "Remove: Groq", exact: true }).click();
  await groq.getByText("No key", { exact: true }).waitFor();
});
