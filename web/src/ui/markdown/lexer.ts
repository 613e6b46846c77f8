/** Markdown as blocks of tokens. Blocks that can no longer change keep their identity while a text grows. */

import { Marked, type Token, type TokenizerAndRendererExtension, type Tokens } from "marked";
import { EXTRAS } from "@/ui/markdown/extras";

export interface MathToken {
  type: "math";
  raw: string;
  text: string;
  isBlock: boolean;
}

const blockMath: TokenizerAndRendererExtension = {
  name: "math",
  level: "block",
  start: (source) => source.match(/\$\$|\\\[/)?.index,
  tokenizer(source) {
    const match = /^(?:\$\$([\s\S]+?)\$\$|\\\[([\s\S]+?)\\\])(?:\n+|$)/.exec(source);
    return match ? { type: "math", raw: match[0], text: match[1] ?? match[2] ?? "", isBlock: true } : undefined;
  },
};

const inlineMath: TokenizerAndRendererExtension = {
  name: "inlineMath",
  level: "inline",
  start: (source) => source.match(/\$|\\\(|\\\[/)?.index,
  tokenizer(source) {
    const match =
      /^\$\$([^$]+?)\$\$/.exec(source) ??
      /^\$(?=\S)([^$\n]*?[^\s$\\])\$(?!\d)/.exec(source) ??
      /^\\\(([\s\S]+?)\\\)/.exec(source) ??
      /^\\\[([\s\S]+?)\\\]/.exec(source);
    return match ? { type: "math", raw: match[0], text: match[1] ?? "", isBlock: false } : undefined;
  },
};

const marked = new Marked({ gfm: true, extensions: [...EXTRAS, blockMath, inlineMath] });

export interface Block {
  readonly raw: string;
  readonly token: Token;
}

/** Text nested deeper than this is shown as its source: a browser cannot render unlimited nesting. */
const MAX_DEPTH = 32;

function lex(source: string): Block[] {
  try {
    return marked.lexer(source).map((token) => ({ raw: token.raw, token: flatten(token, MAX_DEPTH) }));
  } catch (error) {
    if (error instanceof RangeError) return [{ raw: source, token: verbatim(source) }]; // nested too deeply to parse
    throw error;
  }
}

function verbatim(raw: string): Token {
  return { type: "paragraph", raw, text: raw, tokens: [{ type: "text", raw, text: raw }] };
}

/** The token with at most `levels` levels below it; anything deeper becomes plain text. */
function flatten(token: Token, levels: number): Token {
  const node = token as Tokens.Generic;
  if (levels === 0) return verbatim(node.raw);
  if (node.tokens) node.tokens = node.tokens.map((child) => flatten(child, levels - 1));
  if (node.type === "list") for (const item of (node as Tokens.List).items) flatten(item, levels);
  return token;
}

export class BlockReader {
  #source = "";
  #blocks: Block[] = [];

  /** The blocks of the text; when it has grown, only the part that may still change is parsed again. */
  read(text: string): readonly Block[] {
    const source = text.replaceAll("\r\n", "\n");
    if (source === this.#source) return this.#blocks;
    const kept = settled(this.#blocks);
    const prefix = kept.map((block) => block.raw).join("");
    this.#blocks = source.startsWith(prefix) ? [...kept, ...lex(source.slice(prefix.length))] : lex(source);
    this.#source = source;
    return this.#blocks;
  }
}

/** All blocks except the last two non-blank ones, which later text can change (a list continues, a line becomes a heading). */
function settled(blocks: Block[]): Block[] {
  let open = 2;
  let end = blocks.length;
  while (end > 0 && open > 0) {
    end--;
    if (blocks[end]?.token.type !== "space") open--;
  }
  return blocks.slice(0, end);
}

/** Closes marks left open at the end of an unfinished text, so that they do not flicker while it streams. */
export function closeMarks(text: string): string {
  const lastLine = text.lastIndexOf("\n\n") + 1;
  let tail = text.slice(lastLine);
  tail = tail.replace(/!?\[[^\]\n]*\]\([^)\n]*$/, (link) =>
    link.startsWith("!") ? "" : link.slice(1, link.indexOf("]")),
  );
  tail = tail.replace(/!?\[([^\]\n]*)$/, "$1");
  if (count(tail, /`/g) % 2 === 1 && !tail.includes("```")) return `${text.slice(0, lastLine)}${tail}\``;
  for (const mark of ["**", "~~", "*"]) {
    const plain = mark === "*" ? tail.replaceAll("**", "").replace(/^\s*\* /gm, "") : tail;
    if ((plain.split(mark).length - 1) % 2 === 1)
      tail = tail.endsWith(mark) ? tail.slice(0, -mark.length) : tail + mark;
  }
  return text.slice(0, lastLine) + tail;
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
