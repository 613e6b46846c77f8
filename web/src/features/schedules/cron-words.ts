/** The times of a schedule in words, as far as they are simple. */

import type { Text } from "@/text/text";

const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const SUNDAY = Date.UTC(2026, 0, 4);

/** "Monday to Friday at 09:00"; null for a schedule that is better read as it is written. */
export function cronWords(schedule: string, t: Text, locale: string, ownZone: string): string | null {
  const [minute = "", hour = "", day = "", month = "", weekday = "", ...zone] = schedule.trim().split(/\s+/);
  if (weekday === "" || month !== "*") return null;
  const words =
    day === "*" && weekday === "*" && (hour === "*" || hour.includes("/"))
      ? repeated(minute, hour, t)
      : atTimes(timesOf(minute, hour), day, weekday, t, locale);
  const name = zone.join(" ") || "UTC";
  return words === null || name === ownZone ? words : t.cron.inZone(words, name);
}

/** Every so many minutes or hours. */
function repeated(minute: string, hour: string, t: Text): string | null {
  const minutes = stepOf(minute, 60);
  if (hour === "*" && minutes !== null) return t.cron.everyMinutes(minutes);
  const hours = stepOf(hour, 24);
  return hours !== null && /^\d+$/.test(minute) ? t.cron.everyHours(hours, minute.padStart(2, "0")) : null;
}

/** The step of `*`, or of `*` with a divisor of the whole. */
function stepOf(field: string, whole: number): number | null {
  if (field === "*") return 1;
  const step = Number(/^\*\/(\d+)$/.exec(field)?.[1]);
  return step > 0 && whole % step === 0 ? step : null;
}

/** The times of a day: one minute of one or more hours. */
function timesOf(minute: string, hour: string): string | null {
  if (!/^\d+$/.test(minute) || !/^\d+(,\d+)*$/.test(hour)) return null;
  return hour
    .split(",")
    .map((one) => `${one.padStart(2, "0")}:${minute.padStart(2, "0")}`)
    .join(", ");
}

function atTimes(times: string | null, day: string, weekday: string, t: Text, locale: string): string | null {
  if (times === null) return null;
  if (day !== "*") return weekday === "*" && /^\d+$/.test(day) ? t.cron.monthly(Number(day), times) : null;
  if (weekday === "*") return t.cron.daily(times);
  const days = daysOf(weekday);
  if (days === null) return null;
  if (days.join() === "1,2,3,4,5") return t.cron.weekdays(times);
  const format = new Intl.DateTimeFormat(locale, { weekday: "long", timeZone: "UTC" });
  const names = days.map((number) => format.format(SUNDAY + number * 86_400_000));
  return t.cron.onDays(new Intl.ListFormat(locale, { type: "conjunction" }).format(names), times);
}

/** The days of a list with ranges, Sunday as 0. */
function daysOf(field: string): number[] | null {
  const days: number[] = [];
  for (const part of field.toLowerCase().split(",")) {
    const [from, to = from, ...rest] = part.split("-").map(dayNumber);
    if (from === undefined || to === undefined || rest.length > 0 || !(from <= to)) return null;
    for (let number = from; number <= to; number++) days.push(number % 7);
  }
  return days;
}

function dayNumber(name: string): number {
  if (/^[0-7]$/.test(name)) return Number(name);
  return DAYS.includes(name) ? DAYS.indexOf(name) : Number.NaN;
}
