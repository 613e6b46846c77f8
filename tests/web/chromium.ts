/**
 * The browser of the tests, unpacked once per checkout. The package itself unpacks into the shared temporary folder
 * and takes any file there for complete, even one that another process is still writing or left incomplete.
 */

import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import chromium from "@sparticuz/chromium";

const require = createRequire(import.meta.url);

/** The path of the unpacked browser; safe to call from any number of processes. */
export async function unpackChromium(cache: string): Promise<string> {
  const folder = join(cache, `chromium-${packageVersion()}`);
  const program = join(folder, "chromium");
  if (existsSync(program)) return program;
  mkdirSync(cache, { recursive: true });
  const parcel = mkdtempSync(`${folder}-`);
  await unpackInto(parcel);
  try {
    renameSync(parcel, folder);
  } catch (error) {
    rmSync(parcel, { recursive: true, force: true });
    if (!existsSync(program)) throw error; // otherwise another process was faster
  }
  return program;
}

async function unpackInto(folder: string): Promise<void> {
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = folder;
  try {
    await chromium.executablePath();
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
  }
}

function packageVersion(): string {
  const main = require.resolve("@sparticuz/chromium");
  const { version } = JSON.parse(readFileSync(join(dirname(main), "..", "package.json"), "utf8"));
  return String(version);
}
