/** What a table shows: the order of its rows and which columns hold numbers. */

import type { ReactNode } from "react";

export type CellValue = string | number | boolean | null | undefined;

export interface Column<Row> {
  /** Unique among the columns. */
  key: string;
  title: string;
  /** The value to sort by, and to show unless `draw` is given. */
  value: (row: Row) => CellValue;
  draw?: (row: Row) => ReactNode;
  /** By default a column of numbers is right-aligned. */
  align?: "left" | "right";
  /** Whether the heading sorts; true by default. */
  isSortable?: boolean;
}

export interface Order {
  key: string;
  isDescending: boolean;
}

/** The next order when a heading is pressed: ascending, descending, then as the rows came. Numbers begin with the largest. */
export function nextOrder(order: Order | null, key: string, isNumeric: boolean): Order | null {
  if (order?.key !== key) return { key, isDescending: isNumeric };
  return order.isDescending === isNumeric ? { key, isDescending: !isNumeric } : null;
}

/** The rows in this order; rows without a value come last, equal ones stay as they were. */
export function sortRows<Row>(rows: readonly Row[], columns: readonly Column<Row>[], order: Order | null): Row[] {
  const column = columns.find(({ key }) => key === order?.key);
  if (order === null || column === undefined) return [...rows];
  const direction = order.isDescending ? -1 : 1;
  return rows.toSorted((one, other) => {
    const [a, b] = [column.value(one), column.value(other)];
    if (isEmpty(a) || isEmpty(b)) return Number(isEmpty(a)) - Number(isEmpty(b));
    return direction * compare(a, b);
  });
}

export function isNumeric<Row>(column: Column<Row>, rows: readonly Row[]): boolean {
  const values = rows.map(column.value).filter((value) => !isEmpty(value));
  return values.length > 0 && values.every((value) => typeof value === "number");
}

function isEmpty(value: CellValue): boolean {
  return value === null || value === undefined || value === "";
}

function compare(one: CellValue, other: CellValue): number {
  if (typeof one === "number" && typeof other === "number") return one - other;
  return String(one).localeCompare(String(other), undefined, { numeric: true });
}
