import { expect, test } from "vitest";
import { piecesOf } from "@/features/inspector/requests";

test("a message is split into its texts, attachments and calls", () => {
  const call = { id: "c1", type: "function", function: { name: "add", arguments: '{"a":1}' } };
  const broken = { id: "c2", type: "function", function: { name: "add", arguments: '{"a":' } };
  const picture = { type: "image_url", image_url: { url: "data:…" } };
  const content = [{ type: "text", text: "Look." }, picture];
  expect(piecesOf({ role: "assistant", content, tool_calls: [call, broken] })).toEqual([
    { kind: "text", text: "Look." },
    { kind: "data", name: "image_url", text: JSON.stringify({ image_url: picture.image_url }, null, 2) },
    { kind: "call", name: "add", id: "c1", text: '{\n  "a": 1\n}' },
    { kind: "call", name: "add", id: "c2", text: '{"a":' },
  ]);
  expect(piecesOf({ role: "assistant", content: "" })).toEqual([]);
});
