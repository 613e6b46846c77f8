// Lets the browser tests outside this folder find the packages installed here.
import { existsSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const web = dirname(dirname(fileURLToPath(import.meta.url)));
const tests = join(web, "..", "tests", "web");
const link = join(tests, "node_modules");

if (existsSync(tests)) {
  rmSync(link, { force: true, recursive: false });
  symlinkSync(join("..", "..", "web", "node_modules"), link, "junction");
}
