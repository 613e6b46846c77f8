/** The size of the first load. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";

const DIST = join(import.meta.dirname, "..", "..", "web", "dist");
const LIMIT = 200_000;

test("the first load is at most 200 kB of compressed JavaScript", () => {
  const page = readFileSync(join(DIST, "index.html"), "utf8");
  const scripts = [...page.matchAll(/(?:src|href)="(\/[^"]+\.js)"/g)].map((match) => match[1] ?? "");
  const sizes = scripts.map((script) => gzipSync(readFileSync(join(DIST, script))).length);
  expect(scripts.length).toBeGreaterThan(1);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(LIMIT);
});

test("the page has no inline script or style", () => {
  const page = readFileSync(join(DIST, "index.html"), "utf8");
  expect(page).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\son\w+=|style=/);
});
