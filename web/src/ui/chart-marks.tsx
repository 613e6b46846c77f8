import { barsAt, labelStep, type Scale, type Series } from "@/ui/chart-scale";

export const HEIGHT = 180;
const TOP = 8;
const BOTTOM = 24;
const COLORS = 6;

/** The area in which a chart draws. */
export interface Plot {
  left: number;
  width: number;
  count: number;
  scale: Scale;
}

function yOf({ scale }: Plot, value: number): number {
  return TOP + (1 - (value - scale.from) / (scale.to - scale.from)) * (HEIGHT - TOP - BOTTOM);
}

export function bandOf({ left, width, count }: Plot, index: number): { start: number; size: number; middle: number } {
  const size = width / Math.max(1, count);
  return { start: left + index * size, size, middle: left + (index + 0.5) * size };
}

interface AxesProps {
  plot: Plot;
  labels: readonly string[];
  format: (value: number) => string;
  active: number | null;
}

export function Axes({ plot, labels, format, active }: AxesProps) {
  const step = labelStep(labels, plot.width);
  const band = active === null ? null : bandOf(plot, active);
  return (
    <>
      {band ? <rect className="guide" x={band.start} y={TOP} width={band.size} height={HEIGHT - TOP - BOTTOM} /> : null}
      {plot.scale.ticks.map((tick) => (
        <g key={tick}>
          <line
            className={tick === 0 ? "base" : "grid"}
            x1={plot.left}
            x2={plot.left + plot.width}
            y1={yOf(plot, tick)}
            y2={yOf(plot, tick)}
          />
          <text x={plot.left - 8} y={yOf(plot, tick) + 4} textAnchor="end">
            {format(tick)}
          </text>
        </g>
      ))}
      {labels.map((name, index) =>
        index % step === 0 ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: a label is identified by its position
          <text key={index} x={bandOf(plot, index).middle} y={HEIGHT - 6} textAnchor="middle">
            {name}
          </text>
        ) : null,
      )}
    </>
  );
}

interface MarksProps {
  plot: Plot;
  series: readonly Series[];
  kind: "bar" | "line";
  isStacked: boolean;
  active: number | null;
}

/** The bars or lines themselves. */
export function Marks({ plot, series, kind, isStacked, active }: MarksProps) {
  if (kind === "bar") return <Bars plot={plot} series={series} isStacked={isStacked} />;
  return <Lines plot={plot} series={series} active={active} />;
}

function Bars({ plot, series, isStacked }: { plot: Plot; series: readonly Series[]; isStacked: boolean }) {
  const size = Math.min(bandOf(plot, 0).size * 0.72, 56);
  const each = isStacked ? size : size / series.length;
  return Array.from({ length: plot.count }, (_, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a group of bars is identified by its position
    <g key={index}>
      {barsAt(series, index, isStacked).map(([from, to], place) => {
        const top = yOf(plot, Math.max(from, to));
        return (
          <rect
            key={series[place]?.name}
            className={`bar ${colorOf(place)}`}
            x={bandOf(plot, index).middle - size / 2 + (isStacked ? 0 : place * each)}
            y={top}
            width={Math.max(1, each - (isStacked || series.length === 1 ? 0 : 1))}
            height={Math.max(0, yOf(plot, Math.min(from, to)) - top)}
            rx={each > 6 ? 2 : 0}
          />
        );
      })}
    </g>
  ));
}

function Lines({ plot, series, active }: { plot: Plot; series: readonly Series[]; active: number | null }) {
  return series.map(({ name, values }, place) => {
    const value = active === null ? null : values[active];
    return (
      <g key={name} className={colorOf(place)}>
        <path className="curve" d={pathOf(plot, values)} />
        {active === null || value === null || value === undefined ? null : (
          <circle className="point" cx={bandOf(plot, active).middle} cy={yOf(plot, value)} r={4} />
        )}
      </g>
    );
  });
}

/** The line through the values; it is interrupted where one is missing. */
function pathOf(plot: Plot, values: Series["values"]): string {
  return values
    .map((value, index) => {
      if (value === null) return "";
      const isStart = index === 0 || values[index - 1] === null;
      return `${isStart ? "M" : "L"}${bandOf(plot, index).middle.toFixed(1)} ${yOf(plot, value).toFixed(1)}`;
    })
    .join("");
}

/** The class that colours a series. */
export function colorOf(place: number): string {
  return `series-${(place % COLORS) + 1}`;
}
