/** The rendered part of a long chat: from one message to another; null for the newest ones, or for the end. */

import { PAGE } from "@/features/chat/session-info";

export interface Slice {
  readonly first: string | null;
  readonly last: string | null;
}

export const NEWEST: Slice = { first: null, last: null };

/** Messages above the one that is looked for, so that it has neighbours. */
const ABOVE = 10;

type Known = readonly { readonly id: string }[];

/** From which message to which a slice reaches, the last one excluded. */
export function rangeOf({ first, last }: Slice, messages: Known): { start: number; end: number } {
  const end = messages.findIndex((message) => message.id === last) + 1 || messages.length;
  const start = messages.findIndex((message) => message.id === first);
  return { start: start >= 0 && start < end ? start : Math.max(0, end - PAGE), end };
}

/** The slice around a message. */
export function sliceAround(messages: Known, id: string): Slice {
  const place = messages.findIndex((message) => message.id === id);
  if (place < 0) return NEWEST;
  return { first: messages[Math.max(0, place - ABOVE)]?.id ?? null, last: messages[place + PAGE]?.id ?? null };
}

/** The slice with some more messages in front. */
export function withOlder(slice: Slice, messages: Known, firstShown: string): Slice {
  const place = messages.findIndex((message) => message.id === firstShown);
  return { ...slice, first: messages[Math.max(0, place - PAGE)]?.id ?? null };
}

/** The slice with some more messages at its end. */
export function withNewer(slice: Slice, messages: Known): Slice {
  const { start, end } = rangeOf(slice, messages);
  return { first: messages[start]?.id ?? null, last: messages[end - 1 + PAGE]?.id ?? null };
}
