/** Starts the real server with a scripted model, once for all tests; `DOVETAIL_URL` names one that is already running. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { unpackChromium } from "./chromium";

const HERE = dirname(fileURLToPath(import.meta.url));
const REPOSITORY = join(HERE, "..", "..");
const LIMIT = 300_000;
const FAREWELL = 10_000;

export interface Address {
  /** The address of the page. */
  url: string;
  /** The same page on a server that requires an API key. */
  locked: string;
  /** The address that controls the scripted model. */
  script: string;
  /** The server's workspace. */
  workspace: string;
  /** The address of pages on another origin, which may use the server. */
  client: string;
  /** The folder of those pages. */
  clientFolder: string;
}

declare module "vitest" {
  export interface ProvidedContext {
    address: Address;
    /** The path of the browser. */
    browser: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  project.provide("browser", await unpackChromium(join(REPOSITORY, "web", "node_modules", ".cache")));
  const given = process.env["DOVETAIL_URL"];
  if (given !== undefined) {
    project.provide("address", { url: given, locked: "", script: "", workspace: "", client: "", clientFolder: "" });
    return async () => {};
  }
  if (!existsSync(join(REPOSITORY, "web", "dist", "index.html"))) {
    throw new Error("the web client is not built: run `npm run build` in web/ first");
  }
  const source = process.env["PYTHONPATH"] ?? join(REPOSITORY, "src");
  const server = spawn(python(), [join(HERE, "serve.py")], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, PYTHONPATH: source },
  });
  project.provide("address", await readAddress(server));
  return () => end(server);
}

function python(): string {
  const own = join(REPOSITORY, ".venv", "bin", "python");
  return process.env["DOVETAIL_PYTHON"] ?? (existsSync(own) ? own : "python3");
}

/** The line that the server prints when it is ready. */
async function readAddress(server: ChildProcess): Promise<Address> {
  if (server.stdout === null) throw new Error("the server has no output");
  const lines = createInterface({ input: server.stdout });
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), LIMIT);
  try {
    const ended = once(server, "exit", { signal: stop.signal }).then(([code]) => {
      throw new Error(`the server ended with code ${code} before it was ready`);
    });
    const [line] = await Promise.race([once(lines, "line", { signal: stop.signal }), ended]);
    return JSON.parse(line) as Address;
  } catch (error) {
    server.kill();
    throw stop.signal.aborted ? new Error(`the server was not ready after ${LIMIT} ms`) : error;
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}

/** Closes the server's input, which makes it exit; kills it if it does not. */
async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null) return;
  const timer = setTimeout(() => server.kill("SIGKILL"), FAREWELL);
  server.stdin?.end();
  await once(server, "exit");
  clearTimeout(timer);
}
