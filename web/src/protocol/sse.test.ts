import { expect, test } from "vitest";
import { eventBatches } from "@/protocol/sse";

const STREAM =
  ': keep-alive\n\nid: 1\ndata: {"a":"é 中"}\n\ndata: one\ndata: two\r\n\r\nevent: end\r\ndata: three\r\n\r\ndata: [DONE]\n\n';

const DATA = ['{"a":"é 中"}', "one\ntwo", "three"];

async function read(...pieces: Uint8Array[]): Promise<string[][]> {
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  const batches: string[][] = [];
  const reader = stream.pipeThrough(eventBatches()).getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) batches.push(next.value);
  return batches;
}

const bytes = (text: string) => new TextEncoder().encode(text);

test("events in one piece arrive together, without comments and the end mark", async () => {
  expect(await read(bytes(STREAM))).toEqual([DATA]);
});

test("a stream cut in two at any byte has the same events", async () => {
  const whole = bytes(STREAM);
  for (let cut = 1; cut < whole.length; cut++) {
    expect((await read(whole.slice(0, cut), whole.slice(cut))).flat()).toEqual(DATA);
  }
});

test("an event waits for the empty line that ends it", async () => {
  expect(await read(bytes("data: half\n"), bytes("data: whole\n"), bytes("\n"))).toEqual([[], [], ["half\nwhole"]]);
});
