import { expect, test } from "vitest";
import { milliseconds, readableName } from "@/protocol/shapes";

test.each([
  ["run_shell_command", "Run shell command"],
  ["open-url", "Open url"],
  ["calculate", "Calculate"],
  ["Write a note", "Write a note"],
  ["mcp.GitHub", "mcp.GitHub"],
])("%j reads as %j", (name, readable) => {
  expect(readableName(name)).toBe(readable);
});

test("times may be seconds, milliseconds or ISO texts", () => {
  expect([1_700_000_000, 1_700_000_000_000, "2023-11-14T22:13:20Z", "never"].map(milliseconds)).toEqual([
    1_700_000_000_000, 1_700_000_000_000, 1_700_000_000_000, 0,
  ]);
});
