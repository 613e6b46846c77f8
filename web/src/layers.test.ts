/** Imports point down the stack, features do not import each other, and every import is absolute. */

import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";

const ROOT = import.meta.dirname;
const BELOW: Record<string, string[]> = {
  library: ["app", "features", "transport", "ui", "text", "protocol"],
  app: ["features", "transport", "ui", "text", "protocol"],
  features: ["transport", "ui", "text", "protocol"],
  transport: ["protocol"],
  ui: ["text"],
  text: [],
  protocol: [],
};

function sources(): string[] {
  const files = readdirSync(ROOT, { recursive: true, encoding: "utf8" });
  return files.filter((file) => /\.tsx?$/.test(file) && file.includes("/"));
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), "utf8");
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map((match) => match[1] ?? "");
}

/** What is wrong with an import, if anything. */
function faultOf(file: string, target: string): string | null {
  if (target.startsWith(".")) return `${file}: write ${target} as @/…`;
  if (!target.startsWith("@/")) return null;
  const [layer = "", part] = relative(".", file).split("/");
  const [otherLayer = "", otherPart] = target.slice(2).split("/");
  if (layer === otherLayer) return layer === "features" && part !== otherPart ? `${file} imports ${target}` : null;
  return BELOW[layer]?.includes(otherLayer) ? null : `${file} imports ${target}`;
}

test("every import points down the stack", () => {
  const faults = sources().flatMap((file) => importsOf(file).map((target) => faultOf(file, target)));
  expect(faults.filter((fault) => fault !== null)).toEqual([]);
});

test.each([
  ["features/chat/a.ts", "@/features/sessions/b"],
  ["features/chat/a.ts", "@/app/b"],
  ["ui/a.ts", "@/features/chat/b"],
  ["protocol/a.ts", "@/transport/b"],
  ["app/a.ts", "./b"],
])("%s must not import %s", (file, target) => {
  expect(faultOf(file, target)).not.toBeNull();
});

test("no module is longer than 250 lines", () => {
  const long = sources().filter(
    (file) => !/\.(gen|test)\.tsx?$/.test(file) && !file.startsWith("text/") && lines(file) > 250,
  );
  expect(long).toEqual([]);
});

function lines(file: string): number {
  return readFileSync(join(ROOT, file), "utf8").split("\n").length;
}
