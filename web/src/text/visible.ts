/** Characters that steer a reader's eye, or that are not drawn, as escapes such as `\x1b` and `\u202e`. */

const CONTROLS = String.raw`\x00-\x08\x0b-\x1f\x7f-\x9f`;
/** They change the direction or the lines of other text, or carry text that is not drawn. */
const HIDDEN = String.raw`\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}`;
/** Without a picture of their own, though texts in some languages need them. */
const UNDRAWN = String.raw`\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2065\u206a-\u206f\u2800\u3164\uffa0`;
const RARE = String.raw`\ufff0-\ufff8\u{13430}-\u{13446}\u{16fe4}\u{1bca0}-\u{1bca3}\u{1d159}\u{1d173}-\u{1d17a}\u{e0080}-\u{e0fff}\ufe00-\ufe0d`;
/** Drawn around the sign before them. */
const ENCLOSING = String.raw`\u0488\u0489\u1abe\u20dd-\u20e0\u20e2-\u20e4\ua670-\ua672`;
/** Joiners next to ASCII; between letters of other scripts and in emoji they are ordinary. */
const JOINERS = String.raw`(?<![^\0-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\0-\x7f])`;

/** Choices between a sign and its emoji, without a sign before them. */
const SIGNS = String.raw`\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\u{1f000}-\u{1faff}`;
const SELECTORS = String.raw`(?<![${SIGNS}])[\ufe0e\ufe0f]`;

const STEERING = `${CONTROLS}${HIDDEN}${UNDRAWN}${RARE}${ENCLOSING}`;
const SPACES = String.raw` \t\xa0\u1680\u2000-\u200a\u202f\u205f\u3000`;

const IN_TEXT = new RegExp(`[${CONTROLS}${HIDDEN}]`, "gu");
const IN_VALUE = new RegExp(`[${STEERING}]|${JOINERS}|${SELECTORS}`, "gu");
const BLANKS_ON_LINE = new RegExp(
  `[${SPACES}]{8,}|([\\n${STEERING}])\\1{7,}|[\\t\\n${STEERING}]|${JOINERS}|${SELECTORS}`,
  "gu",
);
/** In a line among others, which may be indented, and at its end. */
const BLANKS_IN_LINES = new RegExp(
  `[${SPACES}]{25,}|[${SPACES}]{4,}$|([${STEERING}])\\1{7,}|[${STEERING}]|${JOINERS}|${SELECTORS}`,
  "gmu",
);

const SHORT: Record<string, string> = { "\n": "\\n", "\t": "\\t", "\r": "\\r" };

/** A text for reading: lines stay lines, characters that control or turn the text are visible. */
export function showControls(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(IN_TEXT, escapeOf);
}

/** A value that has to be seen exactly, such as an argument. */
export function showExactly(text: string): string {
  return text.replace(IN_VALUE, escapeOf);
}

/** A name, a path or a command: the same on one line. */
export function showOnLine(text: string): string {
  return showExactly(text).replace(/[\n\t]/g, escapeOf);
}

/** A name, a command or an argument for approval: on one line, with runs of blanks as `␣×90`. */
export function showToApprove(text: string): string {
  return text.replace(BLANKS_ON_LINE, countOf);
}

/** A text such as a difference for approval: the same, but lines stay lines and may be indented. */
export function showLinesToApprove(text: string): string {
  return text.replace(BLANKS_IN_LINES, countOf);
}

/** JSON with such characters as its own escapes: the same data. */
export function showInJson(json: string): string {
  const escaped = (found: string) =>
    [...Array(found.length).keys()].map((at) => `\\u${hex(found.charCodeAt(at), 4)}`).join("");
  return json.replace(IN_VALUE, escaped);
}

function countOf(found: string, repeated: string | undefined): string {
  const { length } = [...found];
  if (length === 1) return escapeOf(found);
  return `${repeated === undefined ? "␣" : escapeOf(repeated)}×${length}`;
}

function escapeOf(found: string): string {
  const code = found.codePointAt(0) ?? 0;
  if (code < 0x100) return SHORT[found] ?? `\\x${hex(code, 2)}`;
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
}

function hex(code: number, width: number): string {
  return code.toString(16).padStart(width, "0");
}
