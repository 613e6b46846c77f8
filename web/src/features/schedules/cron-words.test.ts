import { expect, test } from "vitest";
import { cronWords } from "@/features/schedules/cron-words";
import { LANGUAGES, type Language, loadLanguage, textIn } from "@/text/text";

await loadLanguage("zh");

function words(schedule: string, language: Language = "en", zone = "UTC"): string | null {
  return cronWords(schedule, textIn(language), LANGUAGES[language].locale, zone);
}

test.each([
  ["0 9 * * 1-5 Europe/Berlin", "Monday to Friday at 09:00 (Europe/Berlin)"],
  ["0 9 * * mon-fri", "Monday to Friday at 09:00"],
  ["5 9 * * * America/New_York", "Every day at 09:05 (America/New_York)"],
  ["30 8,17 * * *", "Every day at 08:30, 17:30"],
  ["0 18 * * 5", "Friday at 18:00"],
  ["0 10 * * 6,7", "Saturday and Sunday at 10:00"],
  ["0 7 1 * *", "On day 1 of each month at 07:00"],
  ["*/15 * * * *", "Every 15 minutes"],
  ["* * * * *", "Every minute"],
  ["5 * * * *", "Every hour at minute 05"],
  ["0 */6 * * * UTC", "Every 6 hours at minute 00"],
])("%s is %s", (schedule, expected) => {
  expect(words(schedule)).toBe(expected);
});

test.each([
  ["0 9 * * 1-5 Europe/Berlin", "周一至周五 09:00（Europe/Berlin）"],
  ["0 10 * * 6,7", "星期六和星期日 10:00"],
])("%s is %s in Chinese", (schedule, expected) => {
  expect(words(schedule, "zh")).toBe(expected);
});

test.each(["", "0 9 * *", "*/7 * * * *", "0 9 1 1 *", "0 9 1 * 1", "0 9 * * 5-1", "0 9 * * 1#2", "0 9-17 * * *"])(
  "%j is left as it is",
  (schedule) => {
    expect(words(schedule)).toBeNull();
  },
);

test("a time zone is named unless it is the reader's own; without one a schedule means UTC", () => {
  expect(words("0 9 * * *", "en", "Asia/Shanghai")).toBe("Every day at 09:00 (UTC)");
  expect(words("0 9 * * * Asia/Shanghai", "en", "Asia/Shanghai")).toBe("Every day at 09:00");
});
