/** What the palette finds: commands by a fuzzy search, chats and messages by that of the server. */

import { distanceOf } from "@/ui/fuzzy";

export interface Command {
  id: string;
  name: string;
  keys?: string;
  /** The place in a message that was found. */
  snippet?: string;
  run: () => void;
}

/** The commands whose names contain the letters in order, closest first. */
export function findCommands(commands: readonly Command[], query: string): Command[] {
  const wanted = query.toLowerCase().trim();
  const rated = commands.flatMap((command) => {
    const distance = distanceOf(command.name.toLowerCase(), wanted);
    return distance === null ? [] : [{ command, distance }];
  });
  return rated.sort((one, other) => one.distance - other.distance).map(({ command }) => command);
}

/** Commands, then chats that only the server has found, then messages. */
export function joinHits(commands: readonly Command[], hits: readonly Command[]): Command[] {
  const known = new Set(commands.map((command) => command.id));
  const fresh = hits.filter((hit) => !known.has(hit.id));
  return [...commands, ...fresh.filter(isTitle), ...fresh.filter((hit) => !isTitle(hit))];
}

export const isTitle = (command: Command) => command.snippet === undefined;
