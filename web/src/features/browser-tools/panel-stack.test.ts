import { expect, test } from "vitest";
import { FrontendToolExecutor } from "@/features/browser-tools/executor";
import { normalizeUrl, readOpenUrl, registerDefaultFrontendToolHandlers } from "@/features/browser-tools/handlers";
import { Ledger } from "@/features/browser-tools/ledger";
import { PanelStack } from "@/features/browser-tools/panel-stack";

test("the same page is opened once and brought to the front", () => {
  const stack = new PanelStack();
  const first = stack.push("https://a.example/", "A");
  const second = stack.push("https://b.example/", "B");
  expect(stack.push("https://a.example/", "again")).toBe(first);
  expect(stack.read().items.map((item) => item.title)).toEqual(["A", "B"]);
  expect(stack.read().activeKey).toBe(first);
  stack.close(first);
  expect(stack.read().activeKey).toBe(second);
  stack.close(second);
  expect(stack.read()).toMatchObject({ items: [], activeKey: null });
});

test("opened pages are there after a reload, and their sites are asked again", async () => {
  const kept = new Map<string, string>();
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  };
  const stack = new PanelStack(async (url) => !url.includes("refuses"), storage);
  await stack.check(stack.push("https://refuses.example/", "A"));
  await stack.check(stack.push("https://b.example/", "B"));
  stack.activate(stack.read().items[0]?.key ?? "");
  const again = new PanelStack(async (url) => !url.includes("refuses"), storage);
  expect(again.read().items.map(({ title, isShown }) => [title, isShown])).toEqual([
    ["A", null],
    ["B", null],
  ]);
  expect(again.read().activeKey).toBe(stack.read().activeKey);
  for (const { key } of again.read().items) await again.check(key);
  expect(again.read().items.map(({ isShown }) => isShown)).toEqual([false, true]);
  kept.set("dovetail.pages", '{"items": [{"url": 1}');
  expect(new PanelStack(async () => true, storage).read().items).toEqual([]);
});

test("a page that is open already is brought to the front each time", () => {
  const stack = new PanelStack();
  stack.push("https://a.example/", "A");
  stack.push("https://a.example/", "A");
  expect(stack.read().opened).toBe(2);
});

test.each([
  [
    { actionName: " Show the map ", url: "a.example/map" },
    { action: "Show the map", url: "https://a.example/map" },
  ],
  [{ url: "https://a.example" }, { action: "", title: "a.example" }],
])("a call of open-url is read: %j", (input, expected) => {
  expect(readOpenUrl(input)).toMatchObject(expected);
});

test("a call without an address that can be opened leads nowhere", () => {
  expect(readOpenUrl({ actionName: "Run", url: "javascript:alert(1)" })).toBeNull();
});

test.each([
  ["https://a.example/x", "https://a.example/x"],
  ["a.example/x", "https://a.example/x"],
  ["javascript:alert(1)", null],
  ["file:///etc/passwd", null],
  ["", null],
  [42, null],
])("the address %j is opened as %j", (url, opened) => {
  expect(normalizeUrl(url)).toBe(opened);
});

test("open-url opens a panel and returns its address; an invalid address fails", async () => {
  const stack = new PanelStack();
  const answers: unknown[] = [];
  const backend = {
    claim: async () => true,
    acknowledge: async (_: string, answer: unknown) => void answers.push(answer),
    acknowledgeLast: () => undefined,
    look: async () => "free" as const,
  };
  const executor = new FrontendToolExecutor(
    "tab",
    backend,
    new Ledger({ getItem: () => null, setItem: () => undefined }),
  );
  registerDefaultFrontendToolHandlers(executor, stack);
  await executor.execute({
    askId: "1",
    callId: "1",
    toolName: "open-url",
    isForThisTab: true,
    input: { url: "a.example", title: "A" },
  });
  await executor.execute({
    askId: "2",
    callId: "2",
    toolName: "open-url",
    isForThisTab: true,
    input: { url: "javascript:1" },
  });
  expect(stack.read().items).toMatchObject([{ url: "https://a.example/", title: "A" }]);
  expect(answers).toMatchObject([
    { status: "success", output: { url: "https://a.example/" } },
    { status: "failed", errorText: expect.stringContaining("javascript:1") },
  ]);
});
