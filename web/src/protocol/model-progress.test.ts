import { expect, test } from "vitest";
import { parseModelProgress } from "@/protocol/model-progress";

const part = (data: unknown, type = "data-model-progress") => parseModelProgress({ type, data });

test("progress is a whole percentage that does not run ahead", () => {
  expect(part({ phase: "download", done: 52_900, total: 100_000 })).toEqual({ phase: "download", percent: 52 });
  expect(part({ phase: "read", done: 9, total: 9 })).toEqual({ phase: "read", percent: 100 });
  expect(part({ phase: "read", done: 0, total: 0 })).toEqual({ phase: "read", percent: 0 });
});

test("anything else is no progress", () => {
  expect(part({ phase: "read", done: 1, total: 2 }, "data-ask")).toBeNull();
  expect(part({ phase: "dream", done: 1, total: 2 })).toBeNull();
  expect(part({ phase: "read", done: "1", total: 2 })).toBeNull();
  expect(part(null)).toBeNull();
});
