/** The React page of docs/client.md, as it stands there, with the real `useChat` and on another origin. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import type { Page } from "playwright-core";
import { build } from "vite";
import { afterEach, beforeAll, expect, test } from "vitest";
import { address, call, openPage, type PageOptions, release, script, useBrowser } from "./harness";

useBrowser();

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
const MAIN = `
  import { createRoot } from "react-dom/client";
  import App from "./App.jsx";
  createRoot(document.getElementById("root")).render(<App />);
`;

beforeAll(async () => {
  const text = readFileSync(join(REPOSITORY, "docs", "client.md"), "utf8");
  const code = (language: string) =>
    [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms"))][0]?.[1] ?? "";
  const folder = mkdtempSync(join(REPOSITORY, "web", "node_modules", ".cache", "client-"));
  const files = {
    "index.html":
      '<link rel="icon" href="data:,"><div id="root"></div><script type="module" src="./main.jsx"></script>',
    "main.jsx": MAIN,
    "chat.js": code("js").replace("http://127.0.0.1:8000", address.url),
    "App.jsx": code("jsx"),
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  try {
    await build({
      root: folder,
      configFile: false,
      logLevel: "error",
      plugins: [react()],
      build: { outDir: address.clientFolder, emptyOutDir: true },
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const posts: string[] = [];
afterEach(() => void posts.splice(0));

async function openClient(options: PageOptions = {}): Promise<Page> {
  const page = await openPage({ origin: address.client, usesServer: true, ...options });
  page.on("request", (request) => {
    if (request.method() === "POST" && request.url().endsWith("/api/v1/chat")) posts.push(request.postData() ?? "");
  });
  return page;
}

async function ask(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.getByRole("textbox", { name: "Message" }).press("Enter");
}

const answer = (page: Page) => page.getByRole("article", { name: "assistant" });
const note = (name: string) => call("write_note", { name, text: "oak" });
const highlight = () => call("highlight", { text: "oak" });

test("a message is answered, and both are there after a reload", async () => {
  await script({ when: "plain hello", text: "Hello there." });
  const page = await openClient();
  await ask(page, "plain hello");
  await answer(page).getByText("Hello there.").waitFor();
  await page.reload();
  await answer(page).getByText("Hello there.").waitFor();
  expect(posts).toHaveLength(1);
});

test("a message that is refused before the stream is explained in words", async () => {
  const page = await openClient({ expected: /422/ });
  await ask(page, "");
  const notice = page.getByRole("alert");
  await notice.waitFor();
  expect(await notice.textContent()).toMatch(/^body: Missing message/);
});

test("a browser tool runs in the page", async () => {
  await script({ when: "mark one oak", tool_calls: [highlight()] }, { when: "marked", text: "Marked." });
  const page = await openClient();
  await ask(page, "mark one oak");
  await answer(page).getByText("Marked.").waitFor();
  expect(posts).toHaveLength(2);
});

test("a call that needs approval runs after it", async () => {
  await script({ when: "note by hand", tool_calls: [note("plain")] }, { when: "kept plain", text: "Noted." });
  const page = await openClient();
  await ask(page, "note by hand");
  await page.getByRole("button", { name: "Allow" }).click();
  await answer(page).getByText("Noted.").waitFor();
  expect(posts).toHaveLength(2);
});

test.each(["browser tool first", "approval first"])("both in one turn take three requests: %s", async (order) => {
  const isLast = order === "approval first";
  const calls = isLast ? [note("both"), highlight()] : [highlight(), note("both")];
  const last = isLast ? "marked" : "kept both";
  await script({ when: "mark and note", tool_calls: calls }, { when: last, text: "Both done." });
  const page = await openClient();
  await ask(page, "mark and note");
  await page.getByRole("button", { name: "Allow" }).waitFor();
  // The handler starts only when the turn may run.
  expect(await page.getByRole("region", { name: "highlight" }).getByText("marked").count()).toBe(0);
  await page.getByRole("button", { name: "Allow" }).click();
  await answer(page).getByText("Both done.").waitFor();
  await page.getByRole("region", { name: "highlight" }).getByText("marked").waitFor();
  expect(posts).toHaveLength(3);
});

test("a declined approval leaves the browser tool of the same turn to run", async () => {
  await script(
    { when: "mark, do not note", tool_calls: [note("never"), highlight()] },
    { when: "marked", text: "Only marked." },
  );
  const page = await openClient();
  await ask(page, "mark, do not note");
  await page.getByRole("button", { name: "Decline" }).click();
  await answer(page).getByText("Only marked.").waitFor();
  expect(posts).toHaveLength(3);
});

test("a browser tool that the page lacks fails at once", async () => {
  await script(
    { when: "open it plainly", tool_calls: [call("open-url", { actionName: "Open", url: "https://a.example" })] },
    { when: "no handler for open-url", text: "It cannot." },
  );
  const page = await openClient();
  await ask(page, "open it plainly");
  await answer(page).getByText("It cannot.").waitFor();
});

test("an answer in progress continues after a reload", async () => {
  await script({ when: "long story", steps: ["Once ", { hold: "story" }, "upon a time."] });
  const page = await openClient();
  await ask(page, "long story");
  await answer(page).getByText("Once").waitFor();
  await page.reload();
  await answer(page).getByText("Once").waitFor();
  await release("story");
  await answer(page).getByText("Once upon a time.").waitFor();
  expect(posts).toHaveLength(1);
});

test("an open approval can be given after a reload", async () => {
  await script({ when: "note it later", tool_calls: [note("later")] }, { when: "kept later", text: "Noted later." });
  const page = await openClient();
  await ask(page, "note it later");
  await page.getByRole("button", { name: "Allow" }).waitFor();
  await page.reload();
  await page.getByRole("button", { name: "Allow" }).click();
  await answer(page).getByText("Noted later.").waitFor();
  expect(posts).toHaveLength(2);
});

test("a browser tool that is done does not run again after a reload", async () => {
  await script(
    { when: "mark, then note", tool_calls: [highlight()] },
    { when: "marked", tool_calls: [note("after")] },
    { when: "kept after", text: "Noted after." },
  );
  const page = await openClient();
  await ask(page, "mark, then note");
  await page.getByRole("button", { name: "Allow" }).waitFor();
  await page.reload();
  await page.getByRole("button", { name: "Allow" }).click();
  await answer(page).getByText("Noted after.").waitFor();
  expect(posts).toHaveLength(3);
});

test("stop ends the answer on the server", async () => {
  await script({ when: "without end", steps: ["On ", { hold: "plain-never" }, "and on."] });
  const page = await openClient();
  await ask(page, "without end");
  await answer(page).getByText("On").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("button", { name: "Try again" }).waitFor();
  await page.reload();
  await page.getByRole("button", { name: "Try again" }).waitFor();
  await release("plain-never");
});

test("an answer is written again, and a message edited", async () => {
  await script({ when: "a joint", text: "A dovetail." }, { when: "a joint", text: "A mortise." });
  await script({ when: "a glue", text: "Hide glue." });
  const page = await openClient();
  await ask(page, "a joint");
  await answer(page).getByText("A dovetail.").waitFor();
  await page.getByRole("button", { name: "Try again" }).click();
  await answer(page).getByText("A mortise.").waitFor();
  await page.getByRole("button", { name: "Edit" }).click();
  await ask(page, "a glue");
  await answer(page).getByText("Hide glue.").waitFor();
  await page.reload();
  await answer(page).getByText("Hide glue.").waitFor();
  await expect.poll(() => page.getByRole("article").count()).toBe(2);
});

test("a sub-agent is shown by its name", async () => {
  await script(
    { when: "let it be written", tool_calls: [call("scribe", { query: "write down oak" })] },
    { when: "write down oak", text: "Oak is written." },
    { when: "Oak is written.", text: "The scribe wrote." },
  );
  const page = await openClient();
  await ask(page, "let it be written");
  await answer(page).getByText("The scribe wrote.").waitFor();
  await answer(page).getByText("scribe: ended").waitFor();
});
