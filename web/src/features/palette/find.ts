/** Fuzzy search for commands. */

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

/** How far apart the letters are in the name; null if one is missing. */
function distanceOf(name: string, letters: string): number | null {
  const whole = name.indexOf(letters);
  if (whole >= 0) return whole;
  let at = -1;
  let first = -1;
  for (const letter of letters) {
    at = name.indexOf(letter, at + 1);
    if (at < 0) return null;
    if (first < 0) first = at;
  }
  return 100 + at - first;
}
