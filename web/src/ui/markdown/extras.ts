/** What Markdown of chats has beyond the standard: footnotes, and parts that can be unfolded. */

import type { Token, TokenizerAndRendererExtension } from "marked";

export interface FootnoteToken {
  type: "footnote" | "footnoteRef";
  raw: string;
  name: string;
  tokens?: Token[];
}

export interface DetailsToken {
  type: "details";
  raw: string;
  summary: string;
  isOpen: boolean;
  tokens: Token[];
}

const footnote: TokenizerAndRendererExtension = {
  name: "footnote",
  level: "block",
  start: (source) => source.match(/^\[\^/m)?.index,
  tokenizer(source) {
    const match = /^\[\^([^\]\s]{1,40})\]:[ \t]+(.*(?:\n(?![ \t]*\n|\[\^).+)*(?:\n+[ \t]{2,}.+)*)(?:\n+|$)/.exec(
      source,
    );
    if (match === null) return undefined;
    const [raw, name = "", text = ""] = match;
    return { type: "footnote", raw, name, tokens: this.lexer.blockTokens(text.replace(/^[ \t]{2,4}/gm, ""), []) };
  },
};

const footnoteRef: TokenizerAndRendererExtension = {
  name: "footnoteRef",
  level: "inline",
  start: (source) => source.match(/\[\^/)?.index,
  tokenizer(source) {
    const match = /^\[\^([^\]\s]{1,40})\](?!:)/.exec(source);
    return match ? { type: "footnoteRef", raw: match[0], name: match[1] ?? "" } : undefined;
  },
};

const details: TokenizerAndRendererExtension = {
  name: "details",
  level: "block",
  start: (source) => source.match(/<details[\s>]/i)?.index,
  tokenizer(source) {
    const opening = /^<details(\s+open(?:="[^"]*")?)?\s*>/i.exec(source);
    if (opening === null) return undefined;
    const end = endOfDetails(source);
    const inside = source.slice(opening[0].length, end.start);
    const summary = /^\s*<summary>([\s\S]*?)<\/summary>/i.exec(inside);
    const body = inside.slice(summary?.[0].length ?? 0);
    return {
      type: "details",
      raw: source.slice(0, end.end),
      summary: (summary?.[1] ?? "").replace(/<[^>]*>/g, "").trim(),
      isOpen: opening[1] !== undefined,
      tokens: this.lexer.blockTokens(body.replace(/^\s*\n/, ""), []),
    };
  },
};

/** Where the part that begins with the text ends; at the end of the text if it is not closed yet. */
function endOfDetails(source: string): { start: number; end: number } {
  let depth = 0;
  for (const match of source.matchAll(/<(\/?)details(?:\s[^>]*)?>\n*/gi)) {
    depth += match[1] === "/" ? -1 : 1;
    if (depth === 0) return { start: match.index, end: match.index + match[0].length };
  }
  return { start: source.length, end: source.length };
}

export const EXTRAS = [footnote, footnoteRef, details];
