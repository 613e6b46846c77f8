/** What the first load moves over the network. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page, Response } from "playwright-core";
import { expect, test } from "vitest";
import { composer, fillChat, openPage, openTab, useBrowser } from "./harness";

const DIST = join(import.meta.dirname, "..", "..", "web", "dist");
const LIMIT = 200_000;

useBrowser();

test("the first load moves less than 200 kB of JavaScript, all of it compressed", async () => {
  const page = await openPage({ path: "/favicon.svg" });
  const responses: Response[] = [];
  page.on("response", (response) => responses.push(response));
  await page.goto(new URL("/", page.url()).href);
  await composer(page).waitFor();
  const scripts = responses.filter((response) => response.request().resourceType() === "script");
  expect(scripts.length).toBeGreaterThan(10);
  const sizes = await Promise.all(scripts.map(transferred));
  expect(sizes.filter((one) => one.length > 1000 && one.encoding === undefined)).toEqual([]);
  expect(sizes.reduce((sum, one) => sum + one.bytes, 0)).toBeLessThan(LIMIT);
});

test("the lists are read once as the page opens, also in a second tab", async () => {
  const page = await openPage({ path: "/favicon.svg" });
  const address = new URL("/", page.url()).href;
  await countReads(page, address, "filler 1");
  await countReads(await openTab(page, "/favicon.svg"), address, "filler 2");
});

/** Opens the page and lets it hear news of a chat; what it reads in between is not read again by then. */
async function countReads(page: Page, address: string, title: string): Promise<void> {
  const reads: string[] = [];
  page.on("request", (request) => reads.push(new URL(request.url()).pathname.replace("/api/v1/", "")));
  const count = (name: string) => reads.filter((one) => one === name).length;
  const isRead = page.waitForResponse(/\/api\/v1\/folders/);
  await page.goto(address);
  await isRead;
  expect(["sessions", "folders", "asks", "models"].map(count)).toEqual([2, 1, 1, 1]); // pinned chats are a list of their own
  await fillChat(1, title);
  await page.getByRole("navigation").getByRole("button", { name: title, exact: true }).waitFor();
  expect(["asks", "models"].map(count)).toEqual([1, 1]);
}

interface Transferred {
  encoding: string | undefined;
  bytes: number;
  /** The length of the script itself. */
  length: number;
}

async function transferred(response: Response): Promise<Transferred> {
  const { responseBodySize } = await response.request().sizes();
  const encoding = (await response.allHeaders())["content-encoding"];
  return { encoding, bytes: responseBodySize, length: (await response.body()).length };
}

test("the page has no inline script or style", () => {
  const page = readFileSync(join(DIST, "index.html"), "utf8");
  expect(page).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\son\w+=|style=/);
});
