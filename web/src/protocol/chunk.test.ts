import { expect, test } from "vitest";
import { joinDeltas, parseChunk } from "@/protocol/chunk";
import type { Chunk } from "@/protocol/message";

test("an unknown chunk type is skipped", () => {
  expect(parseChunk('{"type":"hologram-start","id":"1"}')).toBeNull();
  expect(parseChunk("[1]")).toBeNull();
});

test("data chunks of any name are kept", () => {
  expect(parseChunk('{"type":"data-subagent","data":1}')).toEqual({ type: "data-subagent", data: 1 });
});

test("only adjacent deltas of the same text are joined", () => {
  const chunks: Chunk[] = [
    { type: "text-start", id: "a" },
    { type: "text-delta", id: "a", delta: "1" },
    { type: "text-delta", id: "a", delta: "2" },
    { type: "text-delta", id: "b", delta: "3" },
    { type: "reasoning-delta", id: "b", delta: "4" },
    { type: "reasoning-delta", id: "b", delta: "5" },
    { type: "text-end", id: "a" },
  ];
  expect(joinDeltas(chunks)).toEqual([
    { type: "text-start", id: "a" },
    { type: "text-delta", id: "a", delta: "12" },
    { type: "text-delta", id: "b", delta: "3" },
    { type: "reasoning-delta", id: "b", delta: "45" },
    { type: "text-end", id: "a" },
  ]);
});
