/** Where the time of a run went: in the queue, and in each request to a model. */

import type { RequestTiming } from "@/protocol/events.gen";
import type { RunTimes } from "@/protocol/run";
import { formatSecond, formatSeconds } from "@/text/format";
import type { Text } from "@/text/text";

/** A shorter wait is not worth a word, in seconds. */
const LEAST_WAIT = 0.1;

/** Until its first token, altogether, and what it waited for and tried again, if anything. */
export function requestTimes(t: Text, { first_token, seconds, waited, retries }: RequestTiming): string {
  return [
    first_token === null ? "" : t.firstToken(formatSeconds(first_token)),
    t.requestTook(formatSeconds(seconds)),
    waited < LEAST_WAIT ? "" : t.requestWaited(formatSeconds(waited)),
    retries.length === 0 ? "" : t.retried(retries.length, retries.join(", ")),
  ]
    .filter((part) => part !== "")
    .join(" · ");
}

/** When the run was asked for and when it began, with its wait between the two. */
export function runTimes(t: Text, { createdAt, startedAt }: RunTimes, locale: string): Array<[string, string]> {
  const created: [string, string] = [t.runCreated, formatSecond(createdAt, locale)];
  if (startedAt === null) return [created, [t.runStarted, t.runInQueue]];
  const waited = Math.max(0, startedAt - createdAt) / 1000;
  const wait = waited < LEAST_WAIT ? "" : ` · ${t.queueWaited(formatSeconds(waited))}`;
  return [created, [t.runStarted, `${formatSecond(startedAt, locale)}${wait}`]];
}
