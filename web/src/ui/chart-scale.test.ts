import { expect, test } from "vitest";
import { barsAt, extent, labelStep, scaleOf } from "@/ui/chart-scale";

test.each([
  [[3, 7, 12], { from: 0, to: 15, ticks: [0, 5, 10, 15] }],
  [[0.1, 0.34], { from: 0, to: 0.4, ticks: [0, 0.1, 0.2, 0.3, 0.4] }],
  [[-4, 10], { from: -5, to: 10, ticks: [-5, 0, 5, 10] }],
  [[0, 0], { from: 0, to: 1, ticks: [0, 1] }],
  [[], { from: 0, to: 1, ticks: [0, 1] }],
  [[1000], { from: 0, to: 1000, ticks: [0, 250, 500, 750, 1000] }],
])("the values %j have the scale %j", (values, scale) => {
  expect(scaleOf(values)).toEqual(scale);
});

test("stacked bars stand on each other, negative ones below zero", () => {
  const series = [
    { name: "a", values: [1, -2] },
    { name: "b", values: [3, null] },
    { name: "c", values: [2, -1] },
  ];
  expect(barsAt(series, 0, true)).toEqual([
    [0, 1],
    [1, 4],
    [4, 6],
  ]);
  expect(barsAt(series, 1, true)).toEqual([
    [0, -2],
    [0, 0],
    [-2, -3],
  ]);
  expect(barsAt(series, 0, false)).toEqual([
    [0, 1],
    [0, 3],
    [0, 2],
  ]);
  expect(extent(series, true)).toEqual([6, 0, 0, -3]);
  expect(extent(series, false)).toEqual([1, -2, 3, 2, -1]);
});

test("labels are thinned out where they would touch", () => {
  const days = Array.from({ length: 30 }, (_, day) => `Nov ${day + 1}`);
  expect(labelStep(days, 2000)).toBe(1);
  expect(labelStep(days, 400)).toBeGreaterThan(3);
  expect(labelStep([], 400)).toBe(1);
});
