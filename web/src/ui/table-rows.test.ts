import { expect, test } from "vitest";
import { type Column, isNumeric, nextOrder, sortRows } from "@/ui/table-rows";

interface Joint {
  name: string;
  minutes: number | null;
}

const ROWS: Joint[] = [
  { name: "part 10", minutes: 5 },
  { name: "part 9", minutes: null },
  { name: "Part 2", minutes: 40 },
];
const COLUMNS: Column<Joint>[] = [
  { key: "name", title: "Name", value: (row) => row.name },
  { key: "minutes", title: "Minutes", value: (row) => row.minutes },
];

test("rows are sorted by number or by text with numbers, and empty values come last in both directions", () => {
  const names = (key: string, isDescending: boolean) =>
    sortRows(ROWS, COLUMNS, { key, isDescending }).map(({ name }) => name);
  expect(names("name", false)).toEqual(["Part 2", "part 9", "part 10"]);
  expect(names("minutes", false)).toEqual(["part 10", "Part 2", "part 9"]);
  expect(names("minutes", true)).toEqual(["Part 2", "part 10", "part 9"]);
  expect(sortRows(ROWS, COLUMNS, null)).toEqual(ROWS);
});

test("a heading sorts, reverses, and returns to the first order; numbers begin with the largest", () => {
  const first = nextOrder(null, "name", false);
  expect(first).toEqual({ key: "name", isDescending: false });
  expect(nextOrder(first, "name", false)).toEqual({ key: "name", isDescending: true });
  expect(nextOrder({ key: "name", isDescending: true }, "name", false)).toBeNull();
  expect(nextOrder(first, "minutes", true)).toEqual({ key: "minutes", isDescending: true });
});

test("a column of numbers is recognized although some are missing", () => {
  expect(COLUMNS.map((column) => isNumeric(column, ROWS))).toEqual([false, true]);
  expect(COLUMNS.map((column) => isNumeric(column, []))).toEqual([false, false]);
});
