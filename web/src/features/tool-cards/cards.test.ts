import { expect, test, vi } from "vitest";
import { CardRegistry, cardProps } from "@/features/tool-cards/cards";
import type { ToolPart } from "@/protocol/message";

const part = (change: object): ToolPart =>
  ({ type: "dynamic-tool", toolName: "get_weather", toolCallId: "c1", input: { city: "Oslo" }, ...change }) as ToolPart;

test("a card is found by the name of its tool until the cards are replaced", () => {
  const registry = new CardRegistry();
  const own = { Card: () => null, states: ["done"], onError: () => {} } as const;
  registry.replace(new Map([["get_weather", own]]));
  expect(registry.find("get_weather")).toBe(own);
  registry.replace(new Map());
  expect(registry.find("get_weather")).toBeNull();
});

test("a card of the page itself stays and comes before those of folders", () => {
  const registry = new CardRegistry();
  const own = { Card: () => null, states: ["done"], onError: () => {} } as const;
  registry.add("get_weather", own);
  registry.replace(new Map([["get_weather", { ...own }]]));
  expect(registry.find("get_weather")).toBe(own);
  registry.replace(new Map());
  expect(registry.find("get_weather")).toBe(own);
});

test("subscribers do not hear of a reload that leaves the page without cards", () => {
  const registry = new CardRegistry();
  const listener = vi.fn();
  registry.subscribe(listener);
  registry.replace(new Map());
  expect(listener).not.toHaveBeenCalled();
});

test("a card gets the call as plain data", () => {
  const done = cardProps(part({ state: "output-available", output: { degrees: 4 } }), false, "zh");
  expect(done).toEqual({
    toolName: "get_weather",
    callId: "c1",
    input: { city: "Oslo" },
    output: { degrees: 4 },
    state: "done",
    error: null,
    isLive: false,
    language: "zh",
  });
  const failed = cardProps(part({ state: "output-error", errorText: "No such city." }), true, "en");
  expect([failed.state, failed.error, failed.output]).toEqual(["failed", "No such city.", undefined]);
});
