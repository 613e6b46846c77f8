import { expect, test } from "vitest";
import { FrontendToolExecutor } from "@/features/browser-tools/executor";
import { normalizeUrl, registerDefaultFrontendToolHandlers } from "@/features/browser-tools/handlers";
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
  expect(stack.read()).toEqual({ items: [], activeKey: null });
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
