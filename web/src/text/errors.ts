/** Errors in words: by their code in the reader's language, with what the server wrote about it. */

import type { Text } from "@/text/text";

export interface ErrorText {
  title: string;
  /** What the server wrote, where the title only says what kind of error it is; otherwise its hint. */
  detail: string | null;
}

export function describeError(error: unknown, t: Text): ErrorText {
  if (!(error instanceof Error)) return { title: sentence(String(error)), detail: null };
  if (error.name === "OfflineError") return { title: t.offline, detail: null };
  const { kind, hint } = error as { kind?: string; hint?: string | null };
  const known = kind === undefined ? undefined : t.errorKinds[kind];
  if (known !== undefined) return { title: known, detail: sentence(error.message) };
  const [title = "", ...rest] = error.message.split("\n");
  return { title: title === "" ? t.errorTitle : sentence(title), detail: hint || rest.join("\n") || null };
}

/** The same in one line. */
export function errorText(error: unknown, t: Text): string {
  const { title, detail } = describeError(error, t);
  return detail === null ? title : `${title} ${detail}`;
}

/** A fragment as a sentence: with a capital letter and a full stop. */
function sentence(text: string): string {
  const trimmed = text.trim();
  if (trimmed === "") return trimmed;
  // A name of a file, such as policy.toml, stays as it is.
  const isWord = /^\p{L}+(\s|$)/u.test(trimmed);
  const capital = isWord ? trimmed.charAt(0).toUpperCase() + trimmed.slice(1) : trimmed;
  return /[.!?。！？…:]$/.test(capital) ? capital : `${capital}.`;
}
