/** Colours that programs write to a terminal, as spans of text. */

export interface Span {
  text: string;
  className: string;
}

const COLORS = [
  "text-faint",
  "text-danger",
  "text-accent",
  "text-warn",
  "text-(--code-name)",
  "text-(--code-keyword)",
  "text-(--code-string)",
  "",
];

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with a control character
const SEQUENCE = /\u001b\[([0-9;:]*)m|\u001b\[[0-9;?]*[A-Za-ln-z]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b./g;

interface Look {
  color: string;
  isBold: boolean;
  isDim: boolean;
}

const PLAIN: Look = { color: "", isBold: false, isDim: false };

/** Whether a text has escape sequences. */
export function hasColors(text: string): boolean {
  return text.includes("\u001b");
}

/** The text in spans of one look; sequences that move the cursor are removed, a line that is written again replaces itself. */
export function readAnsi(text: string): Span[] {
  const spans: Span[] = [];
  let look = PLAIN;
  let end = 0;
  const add = (piece: string) => {
    if (piece === "") return;
    const className = classOf(look);
    const last = spans.at(-1);
    if (last?.className === className) last.text += piece;
    else spans.push({ text: piece, className });
  };
  for (const match of text.matchAll(SEQUENCE)) {
    add(text.slice(end, match.index));
    end = match.index + match[0].length;
    if (match[1] !== undefined) look = apply(look, match[1]);
  }
  add(text.slice(end));
  return spans;
}

/** The text without escape sequences; of a line that was written again (with a carriage return) the last version remains. */
export function stripAnsi(text: string): string {
  return text.replace(SEQUENCE, "").replace(/^.*\r(?!\n|$)/gm, "");
}

function classOf({ color, isBold, isDim }: Look): string {
  return [isDim ? "text-faint" : color, isBold ? "font-semibold" : ""].filter((name) => name !== "").join(" ");
}

function apply(look: Look, codes: string): Look {
  const numbers = codes.split(/[;:]/).map(Number);
  let now = look;
  for (let place = 0; place < numbers.length; place++) {
    const code = numbers[place] ?? 0;
    // An extended colour has its numbers behind it; it is drawn in the colour of the text.
    if (code === 38 || code === 48) place += numbers[place + 1] === 5 ? 2 : 4;
    else now = change(now, code);
  }
  return now;
}

function change(look: Look, code: number): Look {
  if (code === 0) return PLAIN;
  if (code === 1) return { ...look, isBold: true };
  if (code === 2) return { ...look, isDim: true };
  if (code === 22) return { ...look, isBold: false, isDim: false };
  if (code === 39) return { ...look, color: "" };
  const color = code >= 90 ? code - 90 : code - 30;
  return color >= 0 && color < 8 ? { ...look, color: COLORS[color] ?? "" } : look;
}
