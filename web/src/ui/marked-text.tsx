/** A text whose matches with a query are marked. */
export function MarkedText({ text, query }: { text: string; query: string }) {
  return parted(text, query).map((piece, index) =>
    piece.isMatch ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: a piece is identified by its position
      <mark key={index} className="rounded-sm bg-accent-soft font-medium text-accent">
        {piece.text}
      </mark>
    ) : (
      piece.text
    ),
  );
}

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
