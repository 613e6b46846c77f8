import { expect, test } from "vitest";
import { readableName, time } from "@/protocol/shapes";

test.each([
  ["run_shell_command", "Run shell command"],
  ["open-url", "Open url"],
  ["calculate", "Calculate"],
  ["Write a note", "Write a note"],
  ["mcp.GitHub", "mcp.GitHub"],
])("%j reads as %j", (name, readable) => {
  expect(readableName(name)).toBe(readable);
});

test("a time is read as milliseconds, and anything else as 0", () => {
  expect(["2023-11-14T22:13:20Z", "2023-11-14T23:13:20.5+01:00", "never", null].map(time)).toEqual([
    1_700_000_000_000, 1_700_000_000_500, 0, 0,
  ]);
});
