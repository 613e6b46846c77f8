/** The scroll position in each chat: which message was at the top, and its offset. */

export interface ReadingPlace {
  messageId: string;
  /** Pixels from the top of the column to the top of the message. */
  offset: number;
}

const MARGIN = 56;
const places = new Map<string, ReadingPlace>();

/** Remembers the position, unless it is the end, where a chat opens anyway. */
export function keepPlace(chatId: string, frame: HTMLElement, isAtEnd: boolean): void {
  const top = frame.getBoundingClientRect().top;
  const messages = [...frame.querySelectorAll<HTMLElement>("[data-message]")];
  const first = messages.find((message) => message.getBoundingClientRect().bottom > top);
  const messageId = first?.dataset["message"];
  if (isAtEnd || first === undefined || messageId === undefined) places.delete(chatId);
  else places.set(chatId, { messageId, offset: first.getBoundingClientRect().top - top });
}

/** Makes a message the place where a chat opens, with some of what is above it. */
export function aimAt(chatId: string, messageId: string): void {
  places.set(chatId, { messageId, offset: MARGIN });
}

/** The message where a chat opens; null for its end. */
export function placeOf(chatId: string): string | null {
  return places.get(chatId)?.messageId ?? null;
}

/** Points out the message for a moment. */
export function pointOut(frame: HTMLElement, messageId: string): void {
  const message = frame.querySelector(`[data-message="${CSS.escape(messageId)}"]`);
  message?.animate([{ backgroundColor: "var(--accent-soft)" }, { backgroundColor: "transparent" }], {
    duration: 2200,
    easing: "ease-in",
  });
}

/** Restores the position; returns false if there is none. */
export function returnToPlace(chatId: string, frame: HTMLElement): boolean {
  const place = places.get(chatId);
  if (place === undefined) return false;
  const message = frame.querySelector(`[data-message="${CSS.escape(place.messageId)}"]`);
  if (message === null) return false;
  frame.scrollTop += message.getBoundingClientRect().top - frame.getBoundingClientRect().top - place.offset;
  return true;
}
