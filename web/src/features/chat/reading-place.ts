/** The scroll position in each chat: which message was at the top, and its offset. */

export interface ReadingPlace {
  messageId: string;
  /** Pixels from the top of the column to the top of the message. */
  offset: number;
}

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

/** Restores the position; returns false if there is none. */
export function returnToPlace(chatId: string, frame: HTMLElement): boolean {
  const place = places.get(chatId);
  if (place === undefined) return false;
  const message = frame.querySelector(`[data-message="${CSS.escape(place.messageId)}"]`);
  if (message === null) return false;
  frame.scrollTop += message.getBoundingClientRect().top - frame.getBoundingClientRect().top - place.offset;
  return true;
}
