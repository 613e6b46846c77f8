/** Signing in to a server with API keys, and out again. */

import { expect, test } from "vitest";
import { address, answer, ask, composer, openPage, script, useBrowser } from "./harness";

useBrowser();

test("the page asks for a key, keeps it out of reach of scripts, and forgets it", async () => {
  await script({ when: "who is there", text: "It is you." });
  const page = await openPage({ origin: address.locked, expected: /401/ });
  const key = page.getByLabel("API key", { exact: true });
  await key.fill("made up");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("alert").getByText("Unknown API key.").waitFor();

  await key.fill("anns-long-key");
  await key.press("Enter");
  await ask(page, "who is there");
  await answer(page).getByText("It is you.").waitFor();
  expect(await page.evaluate(() => document.cookie + JSON.stringify(localStorage))).not.toContain("anns-long-key");
  expect(await page.evaluate(() => document.cookie)).toBe("");

  await page.reload();
  await answer(page).getByText("It is you.").waitFor();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "More actions: who is there", exact: true }).click();
  await page.getByRole("menuitem", { name: "Export as JSON", exact: true }).click();
  expect((await download).suggestedFilename()).toMatch(/\.json$/);

  await composer(page).press("Control+k");
  await page.getByRole("combobox").fill("sign out");
  await page.keyboard.press("Enter");
  await key.waitFor();
});

test("a user who is not the operator reads who can repair a rejected key", async () => {
  await script({ when: "my bad key", status: 401, body: { error: { message: "Incorrect API key provided." } } });
  const page = await openPage({ origin: address.locked, expected: /401/, locale: "zh-CN" });
  await page.getByLabel("API 密钥", { exact: true }).fill("bobs-long-key");
  await page.keyboard.press("Enter");
  const field = page.getByRole("textbox", { name: "消息", exact: true });
  await field.fill("my bad key");
  await field.press("Enter");
  const notice = page.getByRole("alert");
  await notice.getByText("只有持有管理令牌的服务器管理员才能更改。").waitFor();
  expect(await notice.getByRole("link", { name: "打开各服务商的密钥", exact: true }).getAttribute("href")).toBe(
    "#/room/models/keys",
  );
});

test("a chat of another person reads like one that does not exist", async () => {
  await script({ when: "for my eyes", text: "Only yours." });
  const page = await openPage({ origin: address.locked, expected: /40[14]/, locale: "zh-CN" });
  await page.getByLabel("API 密钥", { exact: true }).fill("anns-long-key");
  await page.keyboard.press("Enter");
  await page.getByRole("textbox", { name: "消息", exact: true }).fill("for my eyes");
  await page.keyboard.press("Enter");
  await page.getByText("Only yours.").waitFor();
  const other = await openPage({ origin: address.locked, expected: /40[14]/, locale: "zh-CN" });
  await other.getByLabel("API 密钥", { exact: true }).fill("bobs-long-key");
  await other.keyboard.press("Enter");
  await other.getByRole("textbox", { name: "消息", exact: true }).waitFor();
  await other.goto(page.url());
  await other.getByRole("heading", { name: "此对话不存在。", exact: true }).waitFor();
  expect(await other.getByText("Only yours.").count()).toBe(0);
});

test("signing out works on a phone, which cannot open the palette", async () => {
  const page = await openPage({ origin: address.locked, expected: /401/, width: 390, height: 844 });
  const key = page.getByLabel("API key", { exact: true });
  await key.fill("anns-long-key");
  await key.press("Enter");
  // The style of an extension folder is on its way, and after signing out the server refuses it.
  await page.waitForFunction(() => [...document.styleSheets].some((sheet) => sheet.href?.includes("/ext/")));
  await page.getByRole("button", { name: "Settings", exact: true }).click();
  await page.getByRole("menuitem", { name: "Sign out (ann)", exact: true }).click();
  await key.waitFor();
});
