import { expect, test } from "vitest";
import { createEventReader } from "@/protocol/sse";

const STREAM =
  ': keep-alive\n\nid: 1\ndata: {"a":"é 中"}\n\ndata: one\ndata: two\r\n\r\nevent: end\r\ndata: three\r\n\r\ndata: [DONE]\n\n';

const DATA = ['{"a":"é 中"}', "one\ntwo", "three"];

const bytes = (text: string) => new TextEncoder().encode(text);

test("events in one piece arrive together, without comments and the end mark", () => {
  expect(createEventReader()(bytes(STREAM))).toEqual(DATA);
});

test("a stream cut in two at any byte has the same events", () => {
  const whole = bytes(STREAM);
  for (let cut = 1; cut < whole.length; cut++) {
    const read = createEventReader();
    expect([...read(whole.slice(0, cut)), ...read(whole.slice(cut))]).toEqual(DATA);
  }
});

test("an event waits for the empty line that ends it", () => {
  const read = createEventReader();
  expect([read(bytes("data: half\n")), read(bytes("data: whole\n")), read(bytes("\n"))]).toEqual([
    [],
    [],
    ["half\nwhole"],
  ]);
});
