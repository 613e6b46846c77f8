import { expect, test } from "vitest";
import { PAGE } from "@/features/chat/session-info";
import { NEWEST, rangeOf, sliceAround, withNewer, withOlder } from "@/features/chat/slice";

const chat = (length: number) => Array.from({ length }, (_, place) => ({ id: `m${place}` }));

test("a long chat is rendered from its end", () => {
  expect(rangeOf(NEWEST, chat(500))).toEqual({ start: 500 - PAGE, end: 500 });
  expect(rangeOf(NEWEST, chat(3))).toEqual({ start: 0, end: 3 });
});

test("a slice grows in front, also when older messages were loaded in between", () => {
  const slice = withOlder(NEWEST, chat(500), "m460");
  expect(rangeOf(slice, chat(500))).toEqual({ start: 460 - PAGE, end: 500 });
  expect(rangeOf(withOlder(slice, chat(500), "m20"), chat(500)).start).toBe(0);
});

test("a slice around an old message has neighbours on both sides and grows to the end", () => {
  const messages = chat(150);
  const slice = sliceAround(messages, "m50");
  expect(rangeOf(slice, messages)).toEqual({ start: 40, end: 50 + PAGE + 1 });
  const larger = withNewer(withNewer(slice, messages), messages);
  expect(rangeOf(larger, messages)).toEqual({ start: 40, end: 150 });
  expect(larger.last).toBeNull();
});

test("a slice whose messages are gone shows the newest ones", () => {
  expect(rangeOf({ first: "gone", last: null }, chat(100))).toEqual({ start: 100 - PAGE, end: 100 });
  expect(sliceAround(chat(100), "gone")).toEqual(NEWEST);
});
