import { expect, test } from "vitest";
import { hasOptions, NO_OPTIONS, readOptions, writeOptions } from "@/features/chat/option-fields";

test("what is stored is shown, and what is typed is stored", () => {
  const stored = { instructions: "Be brief.", temperature: 0.5, max_tokens: 2000, model: "m" };
  const fields = writeOptions(stored);
  expect(fields).toEqual({ instructions: "Be brief.", temperature: "0.5", longestAnswer: "2000", thinking: "" });
  expect(readOptions(fields)).toEqual({
    change: { instructions: "Be brief.", temperature: 0.5, max_tokens: 2000, thinking: null },
    wrong: [],
  });
  expect(readOptions(writeOptions({})).change).toEqual(NO_OPTIONS);
});

test.each([
  ["0,7", "1,000", 0.7, 1000],
  [" 1 ", "1 000", 1, 1000],
  ["0", "1.000", 0, 1000],
])("numbers are read as people write them: %j and %j", (temperature, longestAnswer, one, other) => {
  const { change, wrong } = readOptions({ instructions: " ", temperature, longestAnswer, thinking: "low" });
  expect([change.temperature, change.max_tokens, wrong]).toEqual([one, other, []]);
});

test("values that mean nothing are named", () => {
  const fields = { instructions: "x".repeat(20_001), temperature: "hot", longestAnswer: "0.5", thinking: "" };
  expect(readOptions(fields).wrong).toEqual(["instructions", "temperature", "longestAnswer"]);
  expect(readOptions({ ...fields, instructions: "", temperature: "3" }).wrong).toContain("temperature");
});

test("only the options of the dialog count as changed", () => {
  expect(hasOptions({ model: "m", mode: "plan" })).toBe(false);
  expect(hasOptions({ temperature: 0 })).toBe(true);
});
