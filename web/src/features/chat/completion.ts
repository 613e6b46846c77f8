/** Completion of `@agent`, `/skill/…`, `/prompt/…` and commands: the matches, and the text after choosing one. */

import { distanceOf } from "@/ui/fuzzy";

export type SuggestionKind = "agent" | "prompt" | "skill" | "command";

export interface Suggestion {
  kind: SuggestionKind;
  name: string;
  /** A name for people, if it differs. */
  title: string;
  description: string;
}

export interface Completion {
  /** Where the word begins and ends in the text. */
  start: number;
  end: number;
  /** By kind, each kind together, best first. */
  matches: Suggestion[];
}

/** The id of the list, for screen readers. */
export const LIST_ID = "completion";

export function optionId(index: number): string {
  return `${LIST_ID}-${index}`;
}

const MOST_OF_A_KIND = 8;
/** Before a sign that begins a word. Chinese has no spaces, and wide signs of its own; its slash key types `、`. */
const ENDS_A_WORD = /[\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}，。；：！？、（）「」“”]$/u;

/** What matches the word before the caret; null if it begins nothing. */
export function completionAt(text: string, caret: number, all: readonly Suggestion[]): Completion | null {
  const before = text.slice(0, caret);
  const found = wordAt(before);
  if (found === null) return null;
  const query = found.query.toLowerCase();
  const isAgent = isAgentSign(found.sign);
  const rated = all
    .filter((one) => (one.kind === "agent") === isAgent)
    .map((one) => ({ one, distance: distance(one, query) }))
    .filter((rating): rating is { one: Suggestion; distance: number } => rating.distance !== null);
  const matches = byKind(rated);
  return matches.length === 0 ? null : { start: found.start, end: caret, matches };
}

/** Where a word that begins with a slash starts, if the caret is in one. */
export function slashAt(text: string, caret: number): number | null {
  const word = wordAt(text.slice(0, caret));
  return word === null || isAgentSign(word.sign) ? null : word.start;
}

function isAgentSign(sign: string): boolean {
  return sign === "@" || sign === "＠";
}

/** The word up to the caret from its first sign on: a slash may also be inside of it. */
function wordAt(before: string): { sign: string; start: number; query: string } | null {
  const begin = before.search(/\S*$/u);
  const signs = [...before.slice(begin).matchAll(/[@＠/／]/gu)].map((sign) => begin + sign.index);
  if (before.startsWith("、") && begin === 0) signs.unshift(0);
  const start = signs.find((place) => place === 0 || ENDS_A_WORD.test(before.slice(0, place)));
  return start === undefined ? null : { sign: before.charAt(start), start, query: before.slice(start + 1) };
}

/** How well a suggestion fits; null if it does not. The first letter must begin a word. */
function distance(one: Suggestion, written: string): number | null {
  const [kind, query] = split(written);
  if (kind !== null && !one.kind.startsWith(kind)) return null;
  const words = kind === null ? [one.name, one.title, one.kind] : [one.name, one.title];
  const distances = words.flatMap((word) => {
    const name = word.toLowerCase();
    const found = startsWord(name, query.charAt(0)) ? distanceOf(name, query) : null;
    return found === null ? [] : [found + (name.startsWith(query.charAt(0)) ? 0 : 1)];
  });
  return distances.length === 0 ? null : Math.min(...distances);
}

/** `skill/re` as the kind and the letters of the name. */
function split(written: string): [kind: string | null, query: string] {
  const at = written.search(/[/／]/);
  return at < 0 ? [null, written] : [written.slice(0, at), written.slice(at + 1)];
}

function startsWord(name: string, letter: string): boolean {
  if (letter === "") return true;
  const isLetter = /^[a-z0-9]$/.test(letter);
  return [...name].some(
    (one, at) => one === letter && (!isLetter || at === 0 || !/[a-z0-9]/.test(name.charAt(at - 1))),
  );
}

function byKind(rated: Array<{ one: Suggestion; distance: number }>): Suggestion[] {
  const groups = new Map<SuggestionKind, typeof rated>();
  for (const rating of rated) groups.set(rating.one.kind, [...(groups.get(rating.one.kind) ?? []), rating]);
  const sorted = [...groups.values()].map((group) => group.sort((a, b) => a.distance - b.distance));
  sorted.sort((a, b) => (a[0]?.distance ?? 0) - (b[0]?.distance ?? 0));
  return sorted.flatMap((group) => group.slice(0, MOST_OF_A_KIND).map(({ one }) => one));
}

/** What stands in the message for a suggestion; prompts and commands leave nothing. */
export function wordFor({ kind, name }: Suggestion): string {
  if (kind === "agent") return `@${name} `;
  return kind === "skill" ? `/skill/${name} ` : "";
}

/** The text with the word replaced, and where the caret is then. */
export function complete(text: string, completion: Completion, word: string): { text: string; caret: number } {
  const rest = text.slice(completion.end);
  return {
    text: text.slice(0, completion.start) + word + (word.endsWith(" ") ? rest.replace(/^ /, "") : rest),
    caret: completion.start + word.length,
  };
}

/** Whether a text may name an agent, whatever their names are. */
export function mayMention(text: string): boolean {
  return /[@＠]/u.test(text);
}

/** The agent that a message is for: the first `@name` of an agent in it. */
export function mentionedAgent(text: string, names: ReadonlySet<string>): string | null {
  for (const match of text.matchAll(/[@＠]([\p{L}\p{N}_][\p{L}\p{N}_.-]*)/gu)) {
    if (match.index > 0 && !ENDS_A_WORD.test(text.slice(0, match.index))) continue;
    const name = longestName(match[1] ?? "", names);
    if (name !== null) return name;
  }
  return null;
}

/** Names end where others begin in Chinese text, so the longest one that fits counts. */
function longestName(word: string, names: ReadonlySet<string>): string | null {
  const fitting = [...names].filter((name) => word.startsWith(name) && !/^[a-z0-9_-]/i.test(word.slice(name.length)));
  return fitting.sort((one, other) => other.length - one.length)[0] ?? null;
}
