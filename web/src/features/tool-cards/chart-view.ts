/**
 * Charts from data. A tool returns `{type: "chart", kind: "bar" | "line", title, labels: ["Mon"], series: [{name,
 * values: [1]}]}`, or with records `{type: "chart", kind, title, data: [{day: "Mon", cost: 1}], x: "day", y: ["cost"]}`;
 * without `x` and `y` the first column with text names the points, and all columns with numbers are drawn.
 */

import { isRecord, type Json, list, optionalText } from "@/protocol/shapes";

export interface ChartView {
  kind: "bar" | "line";
  title: string;
  labels: string[];
  series: { name: string; values: (number | null)[] }[];
  isStacked: boolean;
}

const MOST_SERIES = 6;
const MOST_POINTS = 400;

/** The chart that a tool has returned; null if it is none. */
export function readChart(output: Json): ChartView | null {
  if (output["type"] !== "chart") return null;
  const data = list(output["data"]).filter(isRecord);
  const points = data.length > 0 ? fromRecords(data, output) : fromSeries(output);
  if (points === null || points.labels.length === 0 || points.series.length === 0) return null;
  const kind = output["kind"] === "line" ? "line" : "bar";
  return { ...points, kind, title: optionalText(output["title"]) ?? "", isStacked: output["stacked"] === true };
}

/** A chart of a table, if it has a column of names and columns of numbers. */
export function chartOfTable(columns: readonly string[], rows: readonly Json[]): ChartView | null {
  if (rows.length < 2 || rows.length > MOST_POINTS) return null;
  const points = fromRecords(rows, {});
  if (points === null || points.series.length === 0 || points.series.length >= columns.length) return null;
  return { ...points, kind: rows.length > 24 ? "line" : "bar", title: "", isStacked: false };
}

type Points = Pick<ChartView, "labels" | "series">;

function fromSeries(output: Json): Points | null {
  const labels = list(output["labels"]).slice(0, MOST_POINTS).map(String);
  const series = list(output["series"]).filter(isRecord).slice(0, MOST_SERIES);
  return {
    labels,
    series: series.map((one, place) => {
      const values = list(one["values"]);
      return { name: optionalText(one["name"]) ?? String(place + 1), values: labels.map((_, at) => value(values[at])) };
    }),
  };
}

function fromRecords(data: readonly Json[], { x, y }: Json): Points | null {
  const rows = data.slice(0, MOST_POINTS);
  const columns = Object.keys(rows[0] ?? {});
  const isNumber = (column: string) =>
    rows.some((row) => typeof row[column] === "number") &&
    rows.every((row) => typeof row[column] === "number" || row[column] === null);
  const names = typeof x === "string" ? x : columns.find((column) => !isNumber(column));
  if (names === undefined) return null;
  const wanted = typeof y === "string" ? [y] : list(y).map(String);
  const drawn = (wanted.length > 0 ? wanted : columns.filter(isNumber)).filter((column) => column !== names);
  return {
    labels: rows.map((row) => String(row[names] ?? "")),
    series: drawn.slice(0, MOST_SERIES).map((name) => ({ name, values: rows.map((row) => value(row[name])) })),
  };
}

function value(one: unknown): number | null {
  return typeof one === "number" && Number.isFinite(one) ? one : null;
}
