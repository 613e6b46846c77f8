/** Tabs, devices and servers show the same, and a person is called when something waits. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  address,
  answer,
  ask,
  call,
  composer,
  countOf,
  DELETED,
  idle,
  openPage,
  openTab,
  release,
  script,
  useBrowser,
} from "./harness";
import { Program } from "./python";

useBrowser();

const note = (name: string, text: string) => call("write_note", { name, text });
const question = (page: Page) => page.getByRole("article", { name: "You", exact: true });
const chats = (page: Page) => page.getByRole("navigation", { name: "Conversation", exact: true });
const hash = (page: Page) => `/${new URL(page.url()).hash}`;

/** A page out of sight, as a browser shows it to scripts. */
async function hide(page: Page): Promise<void> {
  await page.evaluate(() => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => true });
    document.dispatchEvent(new Event("visibilitychange"));
  });
}

test("an answer appears live in another tab and on another device", async () => {
  await script({ when: "slow oak", steps: ["Oak grows ", { hold: "oak" }, "slowly."] });
  const page = await openPage();
  await script({ when: "hello", text: "Hi there." });
  await ask(page, "hello");
  await answer(page).getByText("Hi there.").waitFor();
  const tab = await openTab(page, hash(page));
  const device = await openPage({ path: hash(page) });
  for (const one of [tab, device]) await answer(one).getByText("Hi there.").waitFor();

  await ask(page, "slow oak");
  for (const one of [tab, device]) {
    await question(one).getByText("slow oak").waitFor();
    await answer(one).getByText("Oak grows").waitFor();
  }
  await release("oak");
  for (const one of [page, tab, device]) await answer(one).getByText("Oak grows slowly.").waitFor();

  // The device answers next, after what came from the first tab.
  await script({ when: "and pine", text: "Pine grows fast." });
  await idle(device);
  await ask(device, "and pine");
  await answer(page).getByText("Pine grows fast.").waitFor();
  await countOf(question(page), 3);
  await countOf(page.getByRole("button", { name: "Previous version" }), 0);
});

test("a chat that is renamed or deleted elsewhere changes here", async () => {
  await script({ when: "a name", text: "Fine." });
  const page = await openPage({ expected: DELETED });
  await ask(page, "a name");
  await answer(page).getByText("Fine.").waitFor();
  const device = await openPage({ path: hash(page), expected: DELETED });
  await answer(device).getByText("Fine.").waitFor();
  const url = `${address.url}/api/v1/sessions/${hash(page).split("/").at(-1)}`;
  const headers = { "content-type": "application/json" };
  await fetch(url, { method: "PATCH", headers, body: JSON.stringify({ title: "Carpentry" }) });
  await device.getByRole("heading", { name: "Carpentry" }).waitFor();
  await chats(device).getByRole("button", { name: "Carpentry", exact: true }).waitFor();
  await fetch(url, { method: "DELETE" });
  await countOf(chats(device).getByRole("button", { name: "Carpentry", exact: true }), 0);
  await countOf(answer(device), 0);
  await expect.poll(() => new URL(device.url()).hash).toBe("#/");
});

test("what waits is listed over all chats, answered there, and gone everywhere", async () => {
  await script(
    { when: "keep glue", tool_calls: [note("shop", "glue")] },
    { when: "kept shop: glue", text: "Glue is noted." },
  );
  const page = await openPage();
  await ask(page, "keep glue");
  await page.getByRole("button", { name: "Allow", exact: true }).waitFor();
  const device = await openPage();
  const button = device.getByRole("button", { name: "1 thing waits for you", exact: true });
  await button.waitFor();
  await expect.poll(() => device.title()).toBe("(1) waiting · Dovetail");
  expect(await device.locator("link[rel=icon]").getAttribute("href")).toBe("/favicon-waiting.svg");
  await chats(device).getByText("Waiting for you").waitFor({ state: "attached" });

  await button.click();
  const list = device.getByRole("region", { name: "1 thing waits for you", exact: true });
  await list.getByText("keep glue").waitFor();
  await device.evaluate(readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8"));
  const found = await device.evaluate(async () => {
    // @ts-expect-error axe was just added to the page
    const { violations } = await window.axe.run(document.querySelector("section[aria-label*=wait]"));
    return violations.map((one: { id: string }) => one.id);
  });
  expect(found).toEqual([]);
  await list.getByRole("button", { name: /^Allow: / }).click();
  await answer(page).getByText("Glue is noted.").waitFor();
  await device.getByText("Nothing waits for you.").waitFor();
  await device.keyboard.press("Escape");
  await countOf(button, 0);
  await expect.poll(() => device.title()).toBe("Dovetail");
  await expect.poll(() => page.title()).toBe("Dovetail");
});

test("the list says why an answer failed, and the call can be answered again", async () => {
  await script(
    { when: "keep pegs", tool_calls: [note("shop", "pegs")] },
    { when: "kept shop: pegs", text: "Pegs are noted." },
  );
  const page = await openPage();
  await ask(page, "keep pegs");
  await page.getByRole("button", { name: "Allow", exact: true }).waitFor();
  const device = await openPage({ width: 390, height: 844, expected: /ERR_FAILED/ });
  await device.getByRole("button", { name: "1 thing waits for you", exact: true }).click();
  await device.route("**/api/v1/asks/*", (route) => route.abort());
  const list = device.getByRole("region", { name: "1 thing waits for you", exact: true });
  await list.getByRole("button", { name: /^Allow: / }).click();
  await list.getByRole("alert").getByText("Cannot reach the server.").waitFor();
  await device.unroute("**/api/v1/asks/*");
  await list.getByRole("button", { name: /^Allow: / }).click();
  await answer(page).getByText("Pegs are noted.").waitFor();
});

test("the list leads to the call, and an approval that is given elsewhere disappears", async () => {
  await script(
    { when: "keep nails", tool_calls: [note("shop", "nails")] },
    { when: "kept shop: nails", text: "Nails are noted." },
  );
  const page = await openPage();
  await ask(page, "keep nails");
  const allow = page.getByRole("button", { name: "Allow", exact: true });
  await allow.waitFor();
  const device = await openPage({ width: 390, height: 844 });
  await device.getByRole("button", { name: "1 thing waits for you", exact: true }).click();
  await device.getByRole("button", { name: /keep nails/ }).click();
  const own = device.getByRole("button", { name: "Allow", exact: true });
  await expect.poll(() => own.evaluate((button) => button === document.activeElement)).toBe(true);
  await own.click();
  await answer(page).getByText("Nails are noted.").waitFor();
  await countOf(allow, 0);
});

test("the tab shows that an answer is being written", async () => {
  await script({ when: "take your time", steps: ["One ", { hold: "time" }, "two."] });
  const page = await openPage();
  await ask(page, "take your time");
  await expect.poll(() => page.title()).toBe("Working · Dovetail");
  expect(await page.locator("link[rel=icon]").getAttribute("href")).toBe("/favicon-running.svg");
  await chats(page).getByText("Working").waitFor({ state: "attached" });
  await release("time");
  await expect.poll(() => page.title()).toBe("Dovetail");
});

test("ten tabs share one connection, and the next one takes over when it ends", async () => {
  const page = await openPage();
  const feeds: string[] = [];
  await page.waitForFunction(async () =>
    (await navigator.locks.query()).held?.some(({ name }) => name?.startsWith("dovetail.feed")),
  );
  await composer(page).waitFor();
  page.context().on("request", (request) => {
    if (request.url().endsWith("/api/v1/feed")) feeds.push(request.url());
  });
  const tabs = [];
  for (let number = 0; number < 9; number++) tabs.push(await openTab(page, "/"));
  for (const tab of tabs) await composer(tab).waitFor();
  expect(feeds).toEqual([]);
  const last = tabs.at(-1) as Page;
  await script({ when: "everywhere", text: "Seen." });
  await ask(last, "everywhere");
  await answer(last).getByText("Seen.").waitFor();
  for (const tab of [page, ...tabs])
    await chats(tab).getByRole("button", { name: "everywhere", exact: true }).waitFor();

  await page.close();
  await expect.poll(() => feeds.length).toBe(1);
  await fetch(`${address.url}/api/v1/sessions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ title: "From outside" }),
  });
  await chats(last).getByRole("button", { name: "From outside", exact: true }).waitFor();
});

test("one tab notifies when none is in sight, and a click opens the chat", async () => {
  await script({ when: "keep wax", tool_calls: [note("shop", "wax")] });
  const page = await openPage();
  await page.context().grantPermissions(["notifications"], { origin: address.url });
  await page.context().addInitScript(() => {
    localStorage.setItem("dovetail.attention", JSON.stringify({ notifies: true, sounds: false }));
    const shown: unknown[] = [];
    class Shown {
      static readonly permission = "granted";
      onclick: (() => void) | null = null;
      constructor(
        readonly title: string,
        readonly options: unknown,
      ) {
        shown.push(this);
      }
      close(): void {}
    }
    Object.assign(window, { Notification: Shown, shown });
  });
  await page.reload();
  await composer(page).waitFor();
  const tab = await openTab(page, "/");
  await composer(tab).waitFor();
  const countShown = async (one: Page) => one.evaluate(() => (window as unknown as { shown: unknown[] }).shown.length);

  await hide(page);
  const device = await openPage();
  await ask(device, "keep wax");
  await tab.getByRole("button", { name: "1 thing waits for you", exact: true }).waitFor();
  expect([await countShown(page), await countShown(tab)]).toEqual([0, 0]);

  await hide(tab);
  await script({ when: "keep oil", tool_calls: [note("shop", "oil")] });
  const second = await openPage();
  await ask(second, "keep oil");
  await expect.poll(async () => (await countShown(page)) + (await countShown(tab))).toBe(1);
  const caller = (await countShown(page)) === 1 ? page : tab;
  const title = await caller.evaluate(() => {
    const [one] = (window as unknown as { shown: Array<{ title: string; onclick: () => void }> }).shown;
    one?.onclick();
    return one?.title;
  });
  expect(title).toContain("Dovetail waits for you: Write a note");
  await question(caller).getByText("keep oil").waitFor();
});

test("another owner sees and hears nothing", async () => {
  await script(
    { when: "anns secret", tool_calls: [note("shop", "secret")] },
    { when: "bobs own", tool_calls: [note("shop", "own")] },
  );
  const [ann, bob] = [await signIn("anns-long-key"), await signIn("bobs-long-key")];
  await ask(ann, "anns secret");
  await ann.getByRole("button", { name: "1 thing waits for you", exact: true }).waitFor();
  await ask(bob, "bobs own");
  await bob.getByRole("button", { name: "1 thing waits for you", exact: true }).waitFor();
  await countOf(chats(bob).getByRole("button", { name: "anns secret", exact: true }), 0);
  await countOf(ann.getByRole("button", { name: "2 things wait for you", exact: true }), 0);
});

async function signIn(key: string): Promise<Page> {
  const page = await openPage({ origin: address.locked, expected: /401/ });
  await page.getByLabel("API key", { exact: true }).fill(key);
  await page.keyboard.press("Enter");
  await composer(page).waitFor();
  return page;
}

describe("two servers on one database", () => {
  let servers: Program;
  let pair: { url: string; other: string; script: string };
  beforeAll(async () => {
    servers = new Program("serve_pair.py");
    pair = JSON.parse(await servers.read());
  });
  afterAll(() => servers.end());
  const order = async (command: "stop" | "start") => {
    servers.write(command);
    expect(await servers.read()).toBe(command);
  };
  const say = async (when: string, ...steps: unknown[]) => {
    await fetch(`${pair.script}/script/replies`, { method: "POST", body: JSON.stringify([{ when, steps }]) });
  };

  test("an answer at one server appears live at the other", async () => {
    await say("across", "From here ", { hold: "across" }, "to there.");
    const page = await openPage({ origin: pair.url });
    const other = await openPage({ origin: pair.other });
    await ask(page, "across");
    await chats(other).getByRole("button", { name: "across", exact: true }).click();
    await answer(other).getByText("From here").waitFor();
    await fetch(`${pair.script}/script/gates/across`, { method: "POST", body: "{}" });
    await answer(other).getByText("From here to there.").waitFor();
  });

  test("a page recovers when its server was away, and says so quietly", async () => {
    const gone = /ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY|Failed to load/;
    await say("first words", "Before.");
    const page = await openPage({ origin: pair.url, expected: gone });
    await ask(page, "first words");
    await answer(page).getByText("Before.").waitFor();
    const other = await openPage({ origin: pair.other, path: hash(page) });
    await answer(other).getByText("Before.").waitFor();

    await order("stop");
    await page.getByRole("status").getByText("The server cannot be reached. Trying again…").waitFor();
    await say("said while it was away", "After.");
    await ask(other, "said while it was away");
    await answer(other).getByText("After.").waitFor();
    await order("start");
    await page.getByRole("status").getByText("Connected again.").waitFor();
    await answer(page).getByText("After.").waitFor();
    await countOf(question(page), 2);
  });
});
