/** Completion of `/skill/…`: the matches, and the text after choosing one. */

export interface Suggestion {
  name: string;
  description: string;
}

export interface Completion {
  /** Where the word begins and ends in the text. */
  start: number;
  end: number;
  matches: Suggestion[];
}

const WORD = /(^|\s)\/(?:s(?:k(?:i(?:l(?:l(?:\/([\w-]*))?)?)?)?)?)?$/;

/** The skills that match the word before the caret, best first; null if it does not begin a skill. */
export function completionAt(text: string, caret: number, skills: readonly Suggestion[]): Completion | null {
  const before = text.slice(0, caret);
  const match = WORD.exec(before);
  if (match === null) return null;
  const query = (match[2] ?? "").toLowerCase();
  const start = match.index + (match[1]?.length ?? 0);
  const matches = skills.filter((skill) => skill.name.toLowerCase().includes(query));
  matches.sort((one, other) => rank(one, query) - rank(other, query));
  return matches.length === 0 ? null : { start, end: caret, matches: matches.slice(0, 8) };
}

function rank(skill: Suggestion, query: string): number {
  return skill.name.toLowerCase().startsWith(query) ? 0 : 1;
}

export function complete(text: string, completion: Completion, name: string): { text: string; caret: number } {
  const inserted = `/skill/${name} `;
  return {
    text: text.slice(0, completion.start) + inserted + text.slice(completion.end).replace(/^ /, ""),
    caret: completion.start + inserted.length,
  };
}
