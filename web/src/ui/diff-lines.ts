/** A unified diff, parsed into files and numbered lines. */

export interface DiffLine {
  readonly kind: "same" | "added" | "removed";
  /** The line's number before and after the change; null on the side where it does not exist. */
  readonly before: number | null;
  readonly after: number | null;
  readonly text: string;
  /** The part of the line that differs from its counterpart, as start and end. */
  readonly mark: readonly [number, number] | null;
}

export interface DiffFile {
  readonly path: string;
  readonly isNew: boolean;
  readonly isRemoved: boolean;
  readonly added: number;
  readonly removed: number;
  /** Stretches of consecutive lines. */
  readonly hunks: readonly (readonly DiffLine[])[];
}

/** Whether a text is a unified diff. */
export function isDiff(text: string): boolean {
  return /^(diff --git |--- .+\n\+\+\+ |@@ -\d)/m.test(text) && /^[+-]/m.test(text);
}

/** The files of a diff; a text without headers is one file without a path. */
export function parseDiff(text: string): DiffFile[] {
  const reader = new DiffReader();
  for (const line of text.replace(/\n$/, "").split("\n")) reader.read(line.replace(/\r$/, ""));
  return reader.finish();
}

class DiffReader {
  readonly #files: DiffFile[] = [];
  #paths = { before: "", after: "" };
  #hunks: DiffLine[][] = [];
  #before = 0;
  #after = 0;
  /** How many lines the current hunk still has; a line that looks like a header is one only outside of a hunk. */
  #left = { before: 0, after: 0 };

  read(line: string): void {
    const isInside = this.#left.before > 0 || this.#left.after > 0;
    const hunk = isInside ? null : /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (isInside) this.#readLine(line);
    else if (hunk !== null) this.#begin(hunk.slice(1).map((part) => (part === undefined ? 1 : Number(part))));
    else if (line.startsWith("--- ")) {
      this.#close();
      this.#paths.before = pathOf(line);
    } else if (line.startsWith("+++ ")) this.#paths.after = pathOf(line);
    else if (/^[+\- ]/.test(line) && !line.startsWith("diff ")) this.#readLine(line);
  }

  finish(): DiffFile[] {
    this.#close();
    return this.#files;
  }

  #begin([before = 1, oldLines = 1, after = 1, newLines = 1]: number[]): void {
    this.#before = before;
    this.#after = after;
    this.#left = { before: oldLines, after: newLines };
    this.#hunks.push([]);
  }

  #readLine(line: string): void {
    if (line.startsWith("\\")) return;
    if (this.#hunks.length === 0) {
      this.#hunks.push([]);
      [this.#before, this.#after] = [1, 1];
    }
    const kind = line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "same";
    const before = kind === "added" ? null : this.#before++;
    const after = kind === "removed" ? null : this.#after++;
    if (before !== null) this.#left.before--;
    if (after !== null) this.#left.after--;
    this.#hunks.at(-1)?.push({ kind, before, after, text: line.slice(1), mark: null });
  }

  #close(): void {
    const lines = this.#hunks.flat();
    if (lines.length > 0) {
      const { before, after } = this.#paths;
      this.#files.push({
        path: after === "/dev/null" || after === "" ? before : after,
        isNew: before === "/dev/null",
        isRemoved: after === "/dev/null",
        added: lines.filter(({ kind }) => kind === "added").length,
        removed: lines.filter(({ kind }) => kind === "removed").length,
        hunks: this.#hunks.map(markWords),
      });
    }
    this.#hunks = [];
    this.#paths = { before: "", after: "" };
    this.#left = { before: 0, after: 0 };
  }
}

function pathOf(line: string): string {
  const path = line.slice(4).split("\t")[0]?.trim() ?? "";
  return path.replace(/^[ab]\//, "");
}

/** Marks what has changed inside lines that were replaced one by one. */
function markWords(lines: DiffLine[]): DiffLine[] {
  const marked = [...lines];
  for (let start = 0; start < lines.length; ) {
    const removed = countFrom(lines, start, "removed");
    const added = countFrom(lines, start + removed, "added");
    if (removed === added) for (let place = 0; place < removed; place++) markPair(marked, start + place, removed);
    start += Math.max(1, removed + added);
  }
  return marked;
}

function countFrom(lines: DiffLine[], start: number, kind: DiffLine["kind"]): number {
  let count = 0;
  while (lines[start + count]?.kind === kind) count++;
  return count;
}

function markPair(lines: DiffLine[], index: number, distance: number): void {
  const [old, fresh] = [lines[index], lines[index + distance]];
  if (old === undefined || fresh === undefined) return;
  const [from, oldEnd, freshEnd] = differingPart(old.text, fresh.text);
  // Lines that have little in common are different lines, not an edit.
  if (from + (old.text.length - oldEnd) < Math.min(old.text.length, fresh.text.length) / 3) return;
  lines[index] = { ...old, mark: from < oldEnd ? [from, oldEnd] : null };
  lines[index + distance] = { ...fresh, mark: from < freshEnd ? [from, freshEnd] : null };
}

/** Where two lines differ, widened to whole words: the common start, and the end in each. */
function differingPart(one: string, other: string): [number, number, number] {
  let start = 0;
  const shorter = Math.min(one.length, other.length);
  while (start < shorter && one[start] === other[start]) start++;
  let tail = 0;
  while (tail < shorter - start && one.at(-1 - tail) === other.at(-1 - tail)) tail++;
  while (start > 0 && isInWord(one, start)) start--;
  while (tail > 0 && isInWord(one, one.length - tail)) tail--;
  return [start, one.length - tail, other.length - tail];
}

function isInWord(text: string, place: number): boolean {
  return /\w/.test(text[place - 1] ?? "") && /\w/.test(text[place] ?? "");
}
