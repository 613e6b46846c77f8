/** Fuzzy search for commands. */

import { distanceOf } from "@/ui/fuzzy";

export interface Command {
  id: string;
  name: string;
  keys?: string;
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
