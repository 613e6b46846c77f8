import { expect, test } from "vitest";
import { findCommands, joinHits } from "@/features/palette/find";

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

test("titles stand before places in messages, and a chat that is listed anyway stands there once", () => {
  const run = () => {};
  const hits = [
    { id: "place-1", name: "Oak", snippet: "an oak door", run },
    { id: "session-1", name: "Oak", run },
    { id: "session-2", name: "Oak again", run },
  ];
  const joined = joinHits([{ id: "session-1", name: "Oak", run }], hits);
  expect(joined.map(({ id }) => id)).toEqual(["session-1", "session-2", "place-1"]);
});
