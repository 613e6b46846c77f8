/** What the user is doing with a row of the list; it is kept outside the row, which goes when it changes its group. */

import type { SessionListSnapshot } from "@/features/sessions/session-store";

export interface Acting {
  readonly id: string;
  /** The group that showed the row when this began; a pinned chat may also be in an open folder. */
  readonly place: string;
  readonly doing: "menu" | "rename" | "move" | "remove";
  /** The new name, as far as it is typed. */
  readonly title?: string;
}

export const PINNED = "pinned";
export const LISTED = "listed";

/** The group whose row shows it: that in which it began, or another one that has the chat now. */
export function placeOf(acting: Acting | null, list: SessionListSnapshot): string | null {
  if (acting === null) return null;
  const groups = [
    { place: PINNED, sessions: list.pinned },
    ...list.folders.map((folder) => ({ place: folderPlace(folder.name), sessions: folder.sessions ?? [] })),
    { place: LISTED, sessions: list.sessions },
  ];
  const places = groups.filter((group) => group.sessions.some(({ id }) => id === acting.id)).map(({ place }) => place);
  return places.includes(acting.place) ? acting.place : (places[0] ?? null);
}

export function folderPlace(name: string): string {
  return `folder ${name}`;
}
