import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parts } from "@/text/en";
import { loadLanguage, textIn } from "@/text/text";

test("no text has the name of another one", () => {
  const names = Object.values(parts).flatMap((part) => Object.keys(part));
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

test("a language is read in English until it is loaded", async () => {
  expect(textIn("zh").newChat).toBe("New chat");
  await loadLanguage("zh");
  expect(textIn("zh").newChat).toBe("新对话");
});

test("every text is used", () => {
  const root = join(import.meta.dirname, "..");
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
    (file) => /\.tsx?$/.test(file) && !/^text\/(en|zh)\/|\.test\./.test(file),
  );
  const words = new Set(files.flatMap((file) => readFileSync(join(root, file), "utf8").match(/\b\w+\b/g) ?? []));
  const names = Object.values(parts).flatMap((part) => Object.keys(part));
  expect(names.filter((name) => !words.has(name))).toEqual([]);
});
