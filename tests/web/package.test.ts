/** The npm package: packed, installed into a new Vite app without a network, and used there with a real server. */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { address, answer, ask, call, openPage, script, useBrowser } from "./harness";

useBrowser();

const WEB = join(import.meta.dirname, "..", "..", "web");
const LINKED = ["react", "react-dom", "@types/react", "@types/react-dom", "vite", "@vitejs/plugin-react", "typescript"];
const folder = mkdtempSync(join(tmpdir(), "dovetail-app-"));
let preview: { httpServer: { address(): unknown }; close(): Promise<void> };
let origin = "";

const PAGE = `<!doctype html><html lang="en"><head><title>Ours</title><link rel="icon" href="data:," /></head>
<body><div id="root"></div><script type="module" src="/main.tsx"></script></body></html>`;

const MAIN = `
import { Chat, ChatProvider, DovetailClient, useChatSession, useChatState, useChatTools } from "@dovetail/react";
import "@dovetail/react/style.css";
import { createRoot } from "react-dom/client";

const client = new DovetailClient();
client.card("get_weather", ({ input, output }) => <p className="ours">{input.city}: {String(output).length > 0 ? "drawn" : ""}</p>);
const chat = client.chat();

function Numbers() {
  const { messages, status } = useChatState();
  const { title } = useChatSession();
  // @ts-expect-error the types are there
  useChatState().nothing;
  const { toolParts } = useChatTools();
  return <p id="numbers">{[messages.length, Object.keys(toolParts).length, status, title].join(" ")}</p>;
}

const root = document.getElementById("root");
if (root !== null) {
  createRoot(root).render(
    <ChatProvider client={client} chat={chat} language="en">
      <main style={{ height: 600 }}><h1>Our page</h1><Chat /></main>
      <Numbers />
    </ChatProvider>,
  );
}
`;

const TYPES = {
  compilerOptions: {
    target: "ES2022",
    lib: ["ES2023", "DOM", "DOM.Iterable"],
    module: "NodeNext",
    moduleResolution: "NodeNext",
    jsx: "react-jsx",
    strict: true,
    noEmit: true,
    skipLibCheck: true, // the types of `ai` name those of Node
    types: ["vite/client"],
  },
  include: ["main.tsx"],
};

/** The version range of a package that is installed for the page; a link needs no network. */
const link = (name: string) => `file:${join(WEB, "node_modules", name)}`;

function run(program: string, ...options: string[]): string {
  try {
    return execFileSync(program, options, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${program} ${options.join(" ")} failed:\n${stdout}\n${stderr}`);
  }
}

beforeAll(async () => {
  const built =
    run("node", join(WEB, "scripts", "build-package.mjs"), folder)
      .trim()
      .split("\n")
      .at(-1) ?? "";
  const described = JSON.parse(run("tar", "xzOf", built, "package/package.json"));
  const names = [...LINKED, ...Object.keys(described.dependencies)];
  const dependencies = { "@dovetail/react": `file:${built}`, ...Object.fromEntries(names.map((it) => [it, link(it)])) };
  const files: Record<string, unknown> = {
    "package.json": { name: "ours", private: true, type: "module", dependencies },
    "tsconfig.json": TYPES,
  };
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(content));
  writeFileSync(join(folder, "index.html"), PAGE);
  writeFileSync(join(folder, "main.tsx"), MAIN);
  run("npm", "install", "--offline", "--no-audit", "--no-fund", "--ignore-scripts", "--install-links=false");
  run("node", join(WEB, "node_modules", "vite", "bin", "vite.js"), "build", "--logLevel", "warn");
  const vite = await import("vite");
  const server = { target: address.url, changeOrigin: false };
  preview = await vite.preview({
    root: folder,
    configFile: false,
    logLevel: "warn",
    preview: { host: "127.0.0.1", port: 0, proxy: { "/api": server, "/ai": server, "/ext": server } },
  });
  const { port } = preview.httpServer.address() as { port: number };
  origin = `http://127.0.0.1:${port}`;
});

afterAll(async () => {
  await preview?.close();
  rmSync(folder, { recursive: true, force: true });
});

test("the package has the version of the project, its license, and React as a peer", () => {
  const described = JSON.parse(readFileSync(join(folder, "node_modules/@dovetail/react/package.json"), "utf8"));
  const version = readFileSync(join(WEB, "..", "src/dovetail/version.py"), "utf8");
  expect(version).toContain(`"${described.version}"`);
  expect([described.license, Object.keys(described.peerDependencies)]).toEqual(["Apache-2.0", ["react", "react-dom"]]);
  expect(Object.keys(described.dependencies)).not.toContain("react");
});

test("the types of the package fit a strict project", () => {
  expect(run(join(WEB, "node_modules", ".bin", "tsc"), "-p", folder)).toBe("");
});

test("a page made of the package chats, draws a tool with its own card, and asks for approval", async () => {
  await script(
    { when: "warm in Oslo", tool_calls: [call("get_weather", { city: "Oslo" })] },
    { when: "current temperature", tool_calls: [call("write_note", { name: "oslo", text: "warm" })] },
    { when: "kept oslo", text: "It is **warm**, and noted." },
  );
  const page = await openPage({ origin });
  await ask(page, "warm in Oslo?");
  await answer(page).locator(".ours", { hasText: "Oslo: drawn" }).waitFor();
  await page.getByRole("button", { name: "Allow", exact: true }).click();
  await answer(page).locator("strong", { hasText: "warm" }).waitFor();
  await page.getByText("2 2 ready warm in Oslo?").waitFor();
  const field = page.getByRole("textbox", { name: "Message", exact: true });
  expect(await field.evaluate((element) => getComputedStyle(element).resize)).toBe("none");
});
