import { expect, test } from "vitest";
import { activityOf, phraseOf } from "@/features/tool-cards/verbs";
import type { ToolPart } from "@/protocol/message";
import { en } from "@/text/en";
import { zh } from "@/text/zh";

function call(toolName: string, kind: string, input: unknown, more: object = {}): ToolPart {
  const base = { type: "dynamic-tool", toolName, toolCallId: "1", state: "input-available" };
  return { ...base, input, toolMetadata: { kind }, ...more } as ToolPart;
}

test.each([
  ["read_file", "read", { path: "src/app.py", start_line: 1 }, "Reading src/app.py", "Read src/app.py"],
  ["write_file", "write", { path: "a.txt", content: "x" }, "Writing a.txt", "Wrote a.txt"],
  ["search_files", "search", { text: "two\n words" }, "Searching for two words", "Searched for two words"],
  ["run_shell_command", "execute", { command: "ls -l" }, "Running ls -l", "Ran ls -l"],
  ["fetch_url", "fetch", { url: "https://www.a.example/b/" }, "Fetching a.example/b", "Fetched a.example/b"],
  ["open-url", "other", { url: "https://a.example" }, "Opening a.example", "Opened a.example"],
  ["calculate", "think", { expression: "1 + 2" }, "Calculating 1 + 2", "Calculated 1 + 2"],
  ["list_files", "read", { path: "src" }, "Listing src", "Listed src"],
  ["write_todos", "think", { todos: [] }, "Updating the to-do list", "Updated the to-do list"],
])("a call of %s (%s) with %j is %j, then %j", (name, kind, input, now, done) => {
  const part = call(name, kind, input);
  const words = (state: "running" | "done") => {
    const { words, object } = phraseOf(part, state, false, en);
    return `${words} ${object}`.trim();
  };
  expect(words("running")).toBe(now);
  expect(words("done")).toBe(done);
});

test("a tool without a verb or an object is named by its title, and so is an agent", () => {
  const weather = call("get_weather", "read", { city: "Bern" });
  expect(phraseOf(weather, "running", false, en)).toEqual({ words: "Get weather", object: "Bern" });
  const told = call("find", "search", { place: "Bern" }, { title: "Find Bern" });
  expect(phraseOf(told, "done", false, en)).toEqual({ words: "Find Bern", object: "" });
  const agent = call("summarizer", "think", { text: "A saga" });
  expect(phraseOf(agent, "running", true, en)).toEqual({ words: "Summarizer", object: "A saga" });
});

test("shipped tools and agents are named in Chinese, those of users as they named them", () => {
  const weather = call("get_weather", "read", { city: "Bern" });
  expect(phraseOf(weather, "running", false, zh)).toEqual({ words: "查询天气", object: "Bern" });
  const agent = call("summarizer", "think", { text: "A saga" }, { title: "Summarizer: A saga" });
  expect(phraseOf(agent, "done", true, zh)).toEqual({ words: "摘要助手", object: "A saga" });
  const own = call("count_stock", "other", { item: "chisel" });
  expect(phraseOf(own, "done", false, zh)).toEqual({ words: "Count stock", object: "chisel" });
});

test("a call that did not succeed keeps the plain verb", () => {
  const part = call("write_file", "write", { path: "a.txt" });
  for (const state of ["waiting", "failed", "denied", "interrupted"] as const) {
    expect(phraseOf(part, state, false, en).words).toBe("Write");
  }
});

test("calls are counted by what they do", () => {
  expect(activityOf(call("read_file", "read", { path: "a" }), false, en)).toBe("read");
  expect(activityOf(call("get_weather", "read", { city: "Bern" }), false, en)).toBe("other");
  expect(activityOf(call("summarizer", "think", {}), true, en)).toBe("agent");
});
