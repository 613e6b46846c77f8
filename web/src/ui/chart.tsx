import "@/ui/chart.css";
import { type KeyboardEvent, type PointerEvent, useEffect, useMemo, useRef, useState } from "react";
import { Axes, bandOf, colorOf, HEIGHT, Marks, type Plot } from "@/ui/chart-marks";
import { extent, lettersOf, nextPlace, type Series, scaleOf } from "@/ui/chart-scale";

export type { Series } from "@/ui/chart-scale";

interface ChartProps {
  kind: "bar" | "line";
  /** What the chart shows, for screen readers. */
  label: string;
  /** The names along the horizontal axis. */
  labels: readonly string[];
  series: readonly Series[];
  /** Whether the bars of one label stand on each other. */
  isStacked?: boolean;
  /** How a value is written. */
  format?: (value: number) => string;
}

/** A bar or line chart; the arrow keys and the pointer show values, and screen readers get a table. */
export function Chart({ kind, label, labels, series, isStacked = false, format = plainNumber }: ChartProps) {
  const [frame, width] = useWidth();
  const [active, setActive] = useState<number | null>(null);
  const isPile = isStacked && kind === "bar";
  const scale = useMemo(() => scaleOf(extent(series, isPile)), [series, isPile]);
  const left = Math.max(...scale.ticks.map((tick) => lettersOf(format(tick)))) * 6.5 + 12;
  const plot: Plot = { left, width: Math.max(40, width - left - 4), count: labels.length, scale };
  const last = labels.length - 1;
  const onKeyDown = (event: KeyboardEvent) => {
    const place = nextPlace(event.key, active, last);
    if (place === null) return;
    setActive(place);
    event.preventDefault();
  };
  const onPointerMove = (event: PointerEvent) => {
    const x = event.clientX - event.currentTarget.getBoundingClientRect().left - left;
    setActive(Math.min(last, Math.max(0, Math.floor((x / plot.width) * labels.length))));
  };
  const valueText = (index: number) =>
    `${labels[index]}: ${series.map(({ name, values }) => `${name} ${written(values[index], format)}`).join(", ")}`;
  return (
    <figure className="chart" aria-label={label}>
      {series.length > 1 ? <Legend series={series} /> : null}
      <div
        ref={frame}
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, last)}
        aria-valuenow={active ?? 0}
        aria-valuetext={labels.length > 0 ? valueText(active ?? 0) : ""}
        onKeyDown={onKeyDown}
        onFocus={() => setActive((place) => place ?? 0)}
        onBlur={() => setActive(null)}
        onPointerMove={onPointerMove}
        onPointerLeave={() => setActive(null)}
        className="relative h-45 rounded-md"
      >
        {width === 0 ? null : (
          <svg width={width} height={HEIGHT} aria-hidden="true" className="block">
            <Axes plot={plot} labels={labels} format={format} active={active} />
            <Marks plot={plot} series={series} kind={kind} isStacked={isPile} active={active} />
          </svg>
        )}
        {active === null || width === 0 ? null : (
          <Tip plot={plot} index={active} label={labels[active] ?? ""} series={series} format={format} />
        )}
      </div>
      <DataAsTable label={label} labels={labels} series={series} format={format} />
    </figure>
  );
}

interface TipProps {
  plot: Plot;
  index: number;
  label: string;
  series: readonly Series[];
  format: (value: number) => string;
}

function Tip({ plot, index, label, series, format }: TipProps) {
  const { middle } = bandOf(plot, index);
  const isRight = middle > plot.left + plot.width / 2;
  const place = isRight ? { right: plot.left + plot.width - middle + 16 } : { left: middle + 12 };
  return (
    <div
      aria-hidden="true"
      style={place}
      className="pointer-events-none absolute top-2 z-10 rounded-lg border border-line bg-surface px-3 py-2 text-[12px] whitespace-nowrap shadow-float"
    >
      <p className="mb-0.5 font-medium">{label}</p>
      {series.map(({ name, values }, at) => (
        <p key={name} className={`flex items-center gap-2 text-soft ${colorOf(at)}`}>
          <span className="swatch size-2 rounded-full" />
          <span className="flex-1">{name}</span>
          <span className="pl-3 text-ink tabular-nums">{written(values[index], format)}</span>
        </p>
      ))}
    </div>
  );
}

function Legend({ series }: { series: readonly Series[] }) {
  return (
    <ul aria-hidden="true" className="mb-2 flex flex-wrap gap-x-4 gap-y-1 text-[12px] text-soft">
      {series.map(({ name }, place) => (
        <li key={name} className={`flex items-center gap-1.5 ${colorOf(place)}`}>
          <span className="swatch size-2 rounded-full" /> {name}
        </li>
      ))}
    </ul>
  );
}

type DataAsTableProps = Pick<ChartProps, "label" | "labels" | "series"> & { format: (value: number) => string };

function DataAsTable({ label, labels, series, format }: DataAsTableProps) {
  return (
    <table className="sr-only" aria-label={label}>
      <thead>
        <tr>
          <td />
          {series.map(({ name }) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {labels.map((name, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a label is identified by its position
          <tr key={index}>
            <th scope="row">{name}</th>
            {series.map(({ name: column, values }) => (
              <td key={column}>{written(values[index], format)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function useWidth() {
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (frame.current === null) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(frame.current);
    return () => observer.disconnect();
  }, []);
  return [frame, width] as const;
}

function written(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? "–" : format(value);
}

function plainNumber(value: number): string {
  return String(Number(value.toPrecision(6)));
}
