/** Where a reader was in each chat: which message stood at the top, and how far above it. */

export interface ReadingPlace {
  messageId: string;
  /** Pixels from the top of the column to the top of the message. */
  offset: number;
}

const places = new Map<string, ReadingPlace>();

/** Notes the place; nothing is noted for one who is at the end, which is where a chat opens anyway. */
export function keepPlace(chatId: string, frame: HTMLElement, isAtEnd: boolean): void {
  const top = frame.getBoundingClientRect().top;
  const messages = [...frame.querySelectorAll<HTMLElement>("[data-message]")];
  const first = messages.find((message) => message.getBoundingClientRect().bottom > top);
  const messageId = first?.dataset["message"];
  if (isAtEnd || first === undefined || messageId === undefined) places.delete(chatId);
  else places.set(chatId, { messageId, offset: first.getBoundingClientRect().top - top });
}

/** Brings the reader back; false when there is no such place. */
export function returnToPlace(chatId: string, frame: HTMLElement): boolean {
  const place = places.get(chatId);
  if (place === undefined) return false;
  const message = frame.querySelector(`[data-message="${CSS.escape(place.messageId)}"]`);
  if (message === null) return false;
  frame.scrollTop += message.getBoundingClientRect().top - frame.getBoundingClientRect().top - place.offset;
  return true;
}
