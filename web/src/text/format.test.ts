import { expect, test } from "vitest";
import { en } from "@/text/en";
import { formatCost, formatCount, formatSeconds, formatSize } from "@/text/format";
import { zh } from "@/text/zh";

test("sizes, times and counts are short", () => {
  expect([0, 999, 1_500, 98_000_000, 1_100_000_000].map(formatSize)).toEqual([
    "0 B",
    "999 B",
    "1.5 kB",
    "98 MB",
    "1.1 GB",
  ]);
  expect([0, 0.25, 3.14, 61].map(formatSeconds)).toEqual(["<1 ms", "250 ms", "3.1 s", "1 min 1 s"]);
  expect([59.97, 119.7].map(formatSeconds)).toEqual(["1 min 0 s", "2 min 0 s"]);
  expect([3599.4, 3600, 93_599].map(formatSeconds)).toEqual(["59 min 59 s", "1 h 0 min", "26 h 0 min"]);
  expect([7, 9_999, 12_345, 250_000].map(formatCount)).toEqual(["7", "9999", "12.3k", "250k"]);
});

test("every text is translated into Chinese", () => {
  const same = Object.keys(en).filter((key) => en[key as keyof typeof en] === zh[key as keyof typeof zh]);
  expect(same).toEqual(["appName"]);
});

test("a price keeps its significant digits", () => {
  expect([0, 0.000_123_4, 0.0099, 0.012, 3].map(formatCost)).toEqual(["0.00", "0.00012", "0.0099", "0.01", "3.00"]);
});
