/**
 * Starts the real server with a scripted model, once for each worker, because the tests of a file change what their
 * server has. `DOVETAIL_URL` names one that is already running.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { unpackChromium } from "./chromium";
import { Program } from "./python";

const REPOSITORY = join(import.meta.dirname, "..", "..");

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
    /** The servers, one for each worker. */
    addresses: Address[];
    /** The path of the browser. */
    browser: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  project.provide("browser", await unpackChromium(join(REPOSITORY, "web", "node_modules", ".cache")));
  const given = process.env["DOVETAIL_URL"];
  if (given !== undefined) {
    const alone = { url: given, locked: "", script: "", workspace: "", client: "", clientFolder: "" };
    project.provide("addresses", Array(project.config.maxWorkers).fill(alone));
    return async () => {};
  }
  if (!existsSync(join(REPOSITORY, "web", "dist", "index.html"))) {
    throw new Error("the web client is not built: run `npm run build` in web/ first");
  }
  const servers = Array.from({ length: project.config.maxWorkers }, () => new Program("serve.py"));
  const stop = async () => void (await Promise.all(servers.map((server) => server.end())));
  try {
    const lines = await Promise.all(servers.map((server) => server.read()));
    project.provide(
      "addresses",
      lines.map((line): Address => JSON.parse(line)),
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return stop;
}
