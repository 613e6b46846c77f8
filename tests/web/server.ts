/** Starts the real server with a scripted model, once for all tests; `DOVETAIL_URL` names one that runs already. */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";

const HERE = dirname(fileURLToPath(import.meta.url));
const REPOSITORY = join(HERE, "..", "..");
const LIMIT = 30_000;

export interface Address {
  /** Where the page is. */
  url: string;
  /** Where the model's script is steered. */
  script: string;
  /** The folder the server works in. */
  workspace: string;
}

declare module "vitest" {
  export interface ProvidedContext {
    address: Address;
  }
}

function python(): string {
  const own = join(REPOSITORY, ".venv", "bin", "python");
  return process.env["DOVETAIL_PYTHON"] ?? (existsSync(own) ? own : "python3");
}

export default async function setup(project: TestProject): Promise<() => void> {
  const given = process.env["DOVETAIL_URL"];
  if (given !== undefined) {
    project.provide("address", { url: given, script: "", workspace: "" });
    return () => {};
  }
  if (!existsSync(join(REPOSITORY, "web", "dist", "index.html"))) {
    throw new Error("the web client is not built: run `npm run build` in web/ first");
  }
  const source = process.env["PYTHONPATH"] ?? join(REPOSITORY, "src");
  const server = spawn(python(), [join(HERE, "serve.py")], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, PYTHONPATH: source },
  });
  const address = await new Promise<Address>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`the server was not ready after ${LIMIT} ms`)), LIMIT);
    server.once("exit", (code) => reject(new Error(`the server ended with code ${code} before it was ready`)));
    createInterface({ input: server.stdout }).once("line", (line) => {
      clearTimeout(timer);
      resolve(JSON.parse(line) as Address);
    });
  });
  project.provide("address", address);
  return () => {
    server.removeAllListeners("exit");
    server.stdin.end();
  };
}
