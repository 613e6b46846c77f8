/** A text in pieces: those that match a query, and those between them. */
export function parted(text: string, query: string): Array<{ text: string; isMatch: boolean }> {
  const wanted = query.trim().toLowerCase();
  const pieces: Array<{ text: string; isMatch: boolean }> = [];
  let from = 0;
  if (wanted !== "") {
    const lower = text.toLowerCase();
    for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, from)) {
      if (at > from) pieces.push({ text: text.slice(from, at), isMatch: false });
      from = at + wanted.length;
      pieces.push({ text: text.slice(at, from), isMatch: true });
    }
  }
  if (from < text.length) pieces.push({ text: text.slice(from), isMatch: false });
  return pieces;
}
