/** A real browser on the real page, and the model's script. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import {
  type Browser,
  type BrowserContextOptions,
  type Locator,
  type Page,
  chromium as playwright,
} from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, inject } from "vitest";
import { PATIENCE } from "../../web/patience";
import type { Address } from "./server";

const require = createRequire(import.meta.url);

/** The server of this worker; workers have the numbers 1, 2, … */
export const address = inject("addresses")[Number(process.env["VITEST_POOL_ID"]) - 1] as Address;

let browser: Browser;
const problems: string[] = [];
const closing: Array<() => Promise<void>> = [];

const hours = 12 - new Date().getUTCHours();
/** The time zone in which it is about noon: what is of today stays so until the end of a test. */
export const NOON = `Etc/GMT${hours < 0 ? "+" : "-"}${Math.abs(hours)}`;

/** Opens the browser for a test file; closes every page after its test and checks that none has failed. */
export function useBrowser(): void {
  beforeAll(async () => {
    browser = await playwright.launch({
      executablePath: inject("browser"),
      args: ["--no-sandbox", "--font-render-hinting=none"],
      timeout: PATIENCE,
    });
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
    if (address.script !== "") await forget();
    const found = problems.splice(0);
    if (found.length > 0) throw new Error(`the page complained:\n${found.join("\n")}`);
  });
  afterAll(() => browser?.close());
}

export interface PageOptions {
  path?: string;
  /** The server, if not the usual one. */
  origin?: string;
  /** Whether a page of another origin uses the server. */
  usesServer?: boolean;
  width?: number;
  height?: number;
  isDark?: boolean;
  locale?: string;
  timeZone?: string;
  /** Device pixels per CSS pixel. */
  scale?: number;
  /** Console errors that this test causes on purpose. */
  expected?: RegExp;
  /** Whether animations run; otherwise nothing fades or slides during a test. */
  isMoving?: boolean;
}

/** A page in its own browser profile. */
export async function openPage(options: PageOptions = {}): Promise<Page> {
  const settings: BrowserContextOptions = {
    viewport: { width: options.width ?? 1280, height: options.height ?? 820 },
    colorScheme: options.isDark ? "dark" : "light",
    reducedMotion: options.isMoving ? "no-preference" : "reduce",
    locale: options.locale ?? "en",
    deviceScaleFactor: options.scale ?? 1,
    ...(options.timeZone === undefined ? {} : { timezoneId: options.timeZone }),
  };
  const context = await browser.newContext(settings);
  closing.push(() => context.close());
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  const origin = options.origin ?? address.url;
  watch(page, options.expected, options.usesServer ? [origin, address.url] : [origin]);
  await page.goto(origin + (options.path ?? "/"));
  return page;
}

/** Another tab of the same browser profile. */
export async function openTab(page: Page, path: string): Promise<Page> {
  const tab = await page.context().newPage();
  watch(tab);
  await tab.goto(address.url + path);
  return tab;
}

/** Any complaint of the page fails the test: script errors, and violations of the content policy. */
function watch(page: Page, expected?: RegExp, origins = [address.url]): void {
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" && !expected?.test(message.text())) problems.push(message.text());
  });
  page.on("request", (request) => {
    const url = request.url();
    if (/^https?:/.test(url) && !origins.some((one) => url.startsWith(one)) && request.frame() === page.mainFrame()) {
      problems.push(`the page asked another host: ${url}`);
    }
  });
}

export function composer(page: Page) {
  return page.getByRole("textbox", { name: "Message", exact: true });
}

export async function ask(page: Page, text: string): Promise<void> {
  await composer(page).fill(text);
  await composer(page).press("Enter");
}

/** Waits for the end of the answer that is being written; in both languages. */
export async function idle(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^(Send|发送)$/ }).waitFor();
}

/** What the browser reports if a page is still reading a chat, such as its new name, when it is deleted. */
export const DELETED = /404/;

export function answer(page: Page) {
  return page.getByRole("article", { name: "Assistant", exact: true });
}

/** Scripts the model's next replies; `when` ties a reply to a question. */
export async function script(...replies: unknown[]): Promise<void> {
  await steer("POST", "/script/replies", replies);
}

/** Releases a reply that waits at `{hold: name}`. */
export async function release(gate: string): Promise<void> {
  await steer("POST", `/script/gates/${gate}`, {});
}

/** The requests to the model whose last message contains this text. */
export async function requestAbout(text: string): Promise<string> {
  const requests: Array<{ messages: unknown[] }> = await (await fetch(`${address.script}/script/requests`)).json();
  const found = requests.findLast(({ messages }) => JSON.stringify(messages.at(-1)).includes(text));
  return JSON.stringify(found?.messages ?? []);
}

async function steer(method: "POST" | "DELETE", path: string, body?: unknown): Promise<void> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(address.script + path, { method, ...sent });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
}

/** Calls a tool of the server over HTTP. */
export async function callTool(name: string, args: unknown): Promise<void> {
  const response = await fetch(`${address.url}/api/v1/tools/${name}/call`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ arguments: args }),
  });
  if (!response.ok) throw new Error(`${name}: ${response.status} ${await response.text()}`);
}

const PARAGRAPH = "A joint holds because its **parts fit**, not because of the glue. ".repeat(6);

/** Imports a chat with many answers; returns its path. Its messages are `q1`, `a1`, `q2`, … */
export async function fillChat(questions: number, title = "filler 1"): Promise<string> {
  const messages = Array.from({ length: questions }, (_, place) => place + 1).flatMap((number) => [
    filler(`q${number}`, number === 1 ? null : `a${number - 1}`, "user", `filler ${number}`),
    filler(`a${number}`, `q${number}`, "assistant", PARAGRAPH),
  ]);
  const body = JSON.stringify({ title, messages });
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${address.url}/api/v1/sessions/import`, { method: "POST", body, headers });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return `/#/s/${(await response.json()).id}`;
}

function filler(id: string, parent: string | null, role: "user" | "assistant", text: string): object {
  return { id, parent_id: parent, role, parts: [{ type: "text", text }] };
}

/** Removes the chats, schedules and scripted replies of a test, so that the next one starts clean. */
async function forget(): Promise<void> {
  await steer("DELETE", "/script/replies");
  const { sessions } = await (await fetch(`${address.url}/api/v1/sessions?limit=100`)).json();
  for (const { id } of sessions) await fetch(`${address.url}/api/v1/sessions/${id}`, { method: "DELETE" });
  const { schedules } = await (await fetch(`${address.url}/api/v1/schedules`)).json();
  for (const { id } of schedules) await fetch(`${address.url}/api/v1/schedules/${id}`, { method: "DELETE" });
}

/** Waits until the page has this many of them, and not only for a moment. */
export async function countOf(locator: Locator, wanted: number): Promise<void> {
  await expect.poll(() => locator.count()).toBe(wanted);
}

export function call(name: string, args: unknown, id: string = crypto.randomUUID()): object {
  return { call_id: id, name, arguments: args };
}

/** Adds the Chinese glyphs that this browser lacks. */
export async function loadChineseFont(page: Page): Promise<void> {
  const folder = dirname(require.resolve("@fontsource-variable/noto-sans-sc/package.json"));
  const css = readFileSync(join(folder, "index.css"), "utf8");
  const text = await page.evaluate(() => document.body.innerHTML);
  const needed = new Set([...text].map((letter) => letter.codePointAt(0) ?? 0).filter((code) => code > 0x2e00));
  for (const [, file, range] of css.matchAll(/url\((\.\/files\/[^)]+)\)[^;]*;\s*unicode-range:\s*([^;]+);/g)) {
    if (file === undefined || range === undefined || !covers(range, needed)) continue;
    const bytes = readFileSync(join(folder, file)).toString("base64");
    await page.evaluate(addFont, { bytes, range });
  }
}

function covers(range: string, codes: Set<number>): boolean {
  const spans = range.split(",").map((span) =>
    span
      .trim()
      .slice(2)
      .split("-")
      .map((code) => Number.parseInt(code, 16)),
  );
  return [...codes].some((code) => spans.some(([from = 0, to = from]) => code >= from && code <= to));
}

async function addFont({ bytes, range }: { bytes: string; range: string }): Promise<void> {
  const data = Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0));
  const font = new FontFace("Noto Sans SC", data, { unicodeRange: range, weight: "100 900" });
  document.fonts.add(await font.load());
}
