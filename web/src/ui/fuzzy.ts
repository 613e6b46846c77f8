/** Fuzzy search: letters that occur in a name in order. */

/** How far apart the letters are in the name; null if one is missing. */
export function distanceOf(name: string, letters: string): number | null {
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
