import { ArrowDown, ArrowUp } from "lucide-react";
import { useMemo, useState } from "react";
import { useText } from "@/text/text";
import { Button } from "@/ui/button";
import { type Column, isNumeric, nextOrder, type Order, sortRows } from "@/ui/table-rows";

export type { Column } from "@/ui/table-rows";

interface DataTableProps<Row> {
  /** What the table lists, for screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  /** Identifies a row; by default its position. */
  rowKey?: (row: Row) => string;
  /** The order at first; by default as the rows come. */
  order?: Order | null;
  /** How many rows are shown before "Show more". */
  limit?: number;
  /** Opens a row: the first cell becomes a button. */
  onOpen?: (row: Row) => void;
  /** Shown instead of a table without rows. */
  empty?: string;
  /** Whether the table stands in a frame of its own. */
  isFramed?: boolean;
}

/** A table that sorts by its headings; long ones are cut, numbers are right-aligned, and it scrolls sideways by itself. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rows, rowKey, limit = 50, onOpen, empty, isFramed = true } = props;
  const t = useText();
  const [order, setOrder] = useState<Order | null>(props.order ?? null);
  const [shownCount, setShownCount] = useState(limit);
  const sorted = useMemo(() => sortRows(rows, columns, order), [rows, columns, order]);
  const numeric = useMemo(
    () => new Set(columns.filter((column) => isNumeric(column, rows)).map((column) => column.key)),
    [columns, rows],
  );
  if (rows.length === 0 && empty !== undefined) return <p className="py-2 text-[13px] text-faint">{empty}</p>;
  const isRight = ({ key, align }: Column<Row>) => (align === undefined ? numeric.has(key) : align === "right");
  const shown = sorted.slice(0, shownCount);
  return (
    <div>
      <div
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
        tabIndex={0}
        className={`overflow-x-auto -outline-offset-2 ${isFramed ? "rounded-lg border border-line bg-surface" : ""}`}
      >
        <table aria-label={label} className="w-full border-collapse text-[13px] tabular-nums">
          <thead>
            <tr className="border-b border-line">
              {columns.map((column) => (
                <Heading
                  key={column.key}
                  column={column}
                  isRight={isRight(column)}
                  order={order?.key === column.key ? order : null}
                  onSort={() => setOrder(nextOrder(order, column.key, numeric.has(column.key)))}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, index) => (
              <tr
                key={rowKey?.(row) ?? index}
                className={`border-line not-last:border-b ${onOpen === undefined ? "" : "cursor-pointer hover:bg-sunken"}`}
                onClick={onOpen && (() => onOpen(row))}
              >
                {columns.map((column, place) => (
                  <td key={column.key} className={`px-3 py-2 align-top ${isRight(column) ? "text-right" : ""}`}>
                    {place === 0 && onOpen !== undefined ? (
                      <button type="button" className="text-left font-medium hover:underline">
                        {cellOf(column, row)}
                      </button>
                    ) : (
                      cellOf(column, row)
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shown.length < rows.length ? (
        <Button look="plain" className="mt-1" onClick={() => setShownCount(shownCount + Math.max(limit, 200))}>
          {t.showMore(rows.length - shown.length)}
        </Button>
      ) : null}
    </div>
  );
}

interface HeadingProps<Row> {
  column: Column<Row>;
  isRight: boolean;
  order: Order | null;
  onSort: () => void;
}

function Heading<Row>({ column, isRight, order, onSort }: HeadingProps<Row>) {
  const Arrow = order?.isDescending ? ArrowDown : ArrowUp;
  const look = `px-3 py-2 align-bottom font-medium whitespace-nowrap text-soft ${isRight ? "text-right" : "text-left"}`;
  if (column.isSortable === false) {
    return (
      <th scope="col" className={look}>
        {column.title}
      </th>
    );
  }
  return (
    <th
      scope="col"
      aria-sort={order === null ? undefined : order.isDescending ? "descending" : "ascending"}
      className={look}
    >
      <button
        type="button"
        onClick={onSort}
        className={`group/sort -mx-1 flex items-center gap-1 rounded px-1 hover:text-ink ${isRight ? "ml-auto flex-row-reverse" : ""}`}
      >
        {column.title}
        <Arrow
          size={12}
          aria-hidden="true"
          className={order === null ? "opacity-0 group-hover/sort:opacity-50 group-focus-visible/sort:opacity-50" : ""}
        />
      </button>
    </th>
  );
}

function cellOf<Row>(column: Column<Row>, row: Row) {
  if (column.draw !== undefined) return column.draw(row);
  const value = column.value(row);
  return value === null || value === undefined ? "" : String(value);
}
