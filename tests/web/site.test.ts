/** The documentation site (`make docs`), opened from the disk as a reader without a network does. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { openPage, useBrowser } from "./harness";

useBrowser();

const SITE = join(import.meta.dirname, "..", "..", "build", "site");
const origin = pathToFileURL(SITE).href;

/** What a browser loads by itself from another host: scripts, styles, fonts, pictures and frames, but not links. */
const LOADED = [
  /<(?:script|img|iframe|source|video|audio|embed)\b[^>]*\s(?:src|srcset)=["']?(?:https?:)?\/\//i,
  /<link\b(?![^>]*rel=["']?(?:canonical|alternate|next|prev)\b)[^>]*\shref=["']?(?:https?:)?\/\//i,
  /url\(["']?(?:https?:)?\/\//i,
  /@import\s+["'](?:https?:)?\/\//i,
];

beforeAll(() => {
  if (!existsSync(join(SITE, "index.html"))) throw new Error("the documentation is not built: run `make docs` first");
});

function search(page: Page) {
  return page.getByRole("combobox").or(page.locator("input[aria-autocomplete=list]"));
}

async function find(page: Page, text: string): Promise<void> {
  await page.getByRole("button", { name: /Search|查找/ }).click();
  await search(page).pressSequentially(text);
}

test("no page loads anything from another host", () => {
  const files = readdirSync(SITE, { recursive: true, encoding: "utf8" }).filter((name) => /\.(html|css)$/.test(name));
  expect(files.length).toBeGreaterThan(100);
  const loading = files.filter((name) => {
    const text = readFileSync(join(SITE, name), "utf8");
    return LOADED.some((pattern) => pattern.test(text));
  });
  expect(loading).toEqual([]);
});

test("a page opens from the disk, and its search finds a section", async () => {
  const page = await openPage({ origin, path: "/tools.html" });
  await find(page, "remembered approvals");
  await page.getByText("Approvals and remembered answers").first().click();
  await expect.poll(() => page.url()).toContain("/policy.html");
});

test("the Chinese site shows Chinese pages, and its search finds Chinese words", async () => {
  const page = await openPage({ origin, path: "/index.html" });
  await page.getByRole("link", { name: "中文" }).click();
  await expect.poll(() => page.locator("article h2").first().textContent()).toContain("安装");
  await find(page, "审批");
  await expect.poll(() => page.locator("mark, em, b").filter({ hasText: "审批" }).count()).toBeGreaterThan(0);
});

test("a page has the same page in the other language", async () => {
  const page = await openPage({ origin, path: "/reference/cli.html" });
  await page.getByRole("link", { name: "中文" }).click();
  await expect.poll(() => relative(origin, page.url())).toBe("zh/reference/cli.html");
  await page.getByRole("link", { name: "English" }).click();
  await expect.poll(() => relative(origin, page.url())).toBe("reference/cli.html");
});

test("a dark system has dark pages, and a phone shows them without scrolling sideways", async () => {
  const page = await openPage({ origin, path: "/settings.html", isDark: true, width: 390, height: 800 });
  const [red = 255] = (
    await page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g) ?? [])
  ).map(Number);
  expect(red).toBeLessThan(60);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
});
