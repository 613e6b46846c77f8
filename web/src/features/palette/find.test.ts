import { expect, test } from "vitest";
import { findCommands } from "@/features/palette/find";

const commands = ["New chat", "Show tools", "Dark theme", "A chat about newts"].map((name) => ({
  id: name,
  name,
  run: () => {},
}));

test.each([
  ["", ["New chat", "Show tools", "Dark theme", "A chat about newts"]],
  ["new", ["New chat", "A chat about newts"]],
  ["dth", ["Dark theme"]],
  ["zz", []],
])("%j finds %j", (query, names) => {
  expect(findCommands(commands, query).map((command) => command.name)).toEqual(names);
});
