import { expect, test } from "vitest";
import { EventSplitter } from "@/protocol/sse";

const STREAM = ': keep-alive\n\nid: 1\ndata: {"a":1}\n\ndata: one\ndata: two\r\n\r\nevent: end\ndata: [DONE]\n\n';

const EVENTS = [
  { id: "1", event: "message", data: '{"a":1}' },
  { id: "1", event: "message", data: "one\ntwo" },
  { id: "1", event: "end", data: "[DONE]" },
];

test("a stream in one piece gives its events", () => {
  expect(new EventSplitter().feed(STREAM)).toEqual(EVENTS);
});

test("every way to cut a stream in two gives the same events", () => {
  for (let cut = 1; cut < STREAM.length; cut++) {
    const splitter = new EventSplitter();
    expect([...splitter.feed(STREAM.slice(0, cut)), ...splitter.feed(STREAM.slice(cut))]).toEqual(EVENTS);
  }
});

test("an event that is not closed by an empty line waits", () => {
  expect(new EventSplitter().feed("data: half\n")).toEqual([]);
});
