/** Numbers and times for people. */

const UNITS = ["B", "kB", "MB", "GB", "TB"];

export function formatSize(bytes: number): string {
  let value = Math.max(0, bytes);
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${UNITS[unit]}`;
}

export function formatSeconds(seconds: number): string {
  if (seconds < 0.001) return "<1 ms";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A price in the currency of the price table, with its significant digits. */
export function formatCost(cost: number): string {
  return cost >= 0.01 || cost === 0 ? cost.toFixed(2) : String(Number(cost.toPrecision(2)));
}

/** A price per million tokens, such as 0.075. */
export function formatPrice(price: number): string {
  return String(Number(price.toPrecision(4)));
}

export function formatCount(count: number): string {
  if (count >= 999_500) return `${(count / 1_000_000).toFixed(count < 99_950_000 ? 1 : 0)}M`;
  return count < 10_000 ? String(count) : `${(count / 1000).toFixed(count < 100_000 ? 1 : 0)}k`;
}

/** A time in the reader's zone and language, with the year unless it is this one. */
export function formatMoment(time: number, locale: string, zone?: string): string {
  const isThisYear = new Date(time).getFullYear() === new Date().getFullYear();
  return new Intl.DateTimeFormat(locale, {
    weekday: "short",
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    ...(isThisYear ? {} : { year: "numeric" }),
    ...(zone === undefined ? {} : { timeZone: zone }),
  }).format(time);
}

/** A time to the second, in the reader's zone and language. */
export function formatSecond(time: number, locale: string, zone?: string): string {
  return new Intl.DateTimeFormat(locale, {
    dateStyle: "medium",
    timeStyle: "medium",
    hourCycle: "h23",
    ...(zone === undefined ? {} : { timeZone: zone }),
  }).format(time);
}

/** The reader's time zone. */
export function ownZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
}

/** How long ago a time was, such as “5 minutes ago”. */
export function formatAge(time: number, locale: string, now = Date.now()): string {
  const seconds = Math.max(0, (now - time) / 1000);
  const format = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
  if (seconds < 59.95) return format.format(0, "second");
  if (seconds < 3600) return format.format(-Math.floor(seconds / 60), "minute");
  if (seconds < 86_400) return format.format(-Math.floor(seconds / 3600), "hour");
  return format.format(-Math.floor(seconds / 86_400), "day");
}
