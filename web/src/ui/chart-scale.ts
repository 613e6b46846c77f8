/** The arithmetic of a chart: where values, bars and labels are placed. */

export interface Series {
  name: string;
  /** One value per label; null where there is none. */
  values: readonly (number | null)[];
}

export interface Scale {
  from: number;
  to: number;
  ticks: readonly number[];
}

/** Round steps from zero (or below) to the largest value. */
export function scaleOf(values: readonly number[], wanted = 4): Scale {
  const low = Math.min(0, ...values);
  const high = Math.max(0, ...values);
  if (low === high) return { from: 0, to: 1, ticks: [0, 1] };
  const step = roundStep((high - low) / wanted);
  const from = Math.floor(low / step + 1e-9) * step;
  const to = Math.ceil(high / step - 1e-9) * step;
  const count = Math.round((to - from) / step);
  const ticks = Array.from({ length: count + 1 }, (_, index) => tidy(from + index * step, step));
  return { from: tidy(from, step), to: tidy(to, step), ticks };
}

/** The next larger of 1, 2, 2.5, 5 and 10 times a power of ten. */
function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 2.5, 5, 10].find((one) => one * power >= rough * (1 - 1e-9)) ?? 10;
  return factor * power;
}

/** Removes what binary fractions add: 0.30000000000000004 is 0.3. */
function tidy(value: number, step: number): number {
  const digits = Math.max(0, 2 - Math.floor(Math.log10(step)));
  return Number(value.toFixed(Math.min(20, digits)));
}

/** The lowest and highest value of each label: of the single series, or of all on top of each other. */
export function extent(series: readonly Series[], isStacked: boolean): number[] {
  if (!isStacked) return series.flatMap(({ values }) => values.filter((value) => value !== null));
  const count = Math.max(0, ...series.map(({ values }) => values.length));
  return Array.from({ length: count }, (_, index) => {
    const here = series.map(({ values }) => values[index] ?? 0);
    return [sum(here.filter((value) => value > 0)), sum(here.filter((value) => value < 0))];
  }).flat();
}

/** Where the bar of each series begins and ends, at one label. */
export function barsAt(series: readonly Series[], index: number, isStacked: boolean): [number, number][] {
  let up = 0;
  let down = 0;
  return series.map(({ values }) => {
    const value = values[index] ?? 0;
    if (!isStacked) return [0, value];
    const base = value < 0 ? down : up;
    if (value < 0) down += value;
    else up += value;
    return [base, base + value];
  });
}

/** Every how many labels one is written, so that they do not touch. */
export function labelStep(labels: readonly string[], width: number): number {
  const widest = Math.max(1, ...labels.map(lettersOf)) * 6.5 + 14;
  return Math.max(1, Math.ceil((labels.length * widest) / Math.max(1, width)));
}

/** The width of a label in Latin letters: a Chinese character is as wide as two. */
export function lettersOf(label: string): number {
  return [...label].reduce((width, letter) => width + (letter > "\u2e00" ? 2 : 1), 0);
}

const MOVES: Record<string, number> = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };

/** The label that a key leads to; null for other keys. */
export function nextPlace(key: string, place: number | null, last: number): number | null {
  if (key === "Home") return 0;
  if (key === "End") return last;
  const move = MOVES[key];
  if (move === undefined) return null;
  return Math.min(last, Math.max(0, (place ?? 0) + move));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
