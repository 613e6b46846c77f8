/** What was chosen and written in a form of questions, before it is sent. */

import type { Answers, Question } from "@/protocol/question";

export type Draft = Readonly<Record<string, { chosen: readonly string[]; words: string }>>;

export function emptyDraft(questions: readonly Question[]): Draft {
  return Object.fromEntries(questions.map(({ id }) => [id, { chosen: [], words: "" }]));
}

export function isAnswered(draft: Draft, question: Question): boolean {
  return answerTo(draft, question) !== null;
}

/** The answers by question; questions without one are left out. */
export function toAnswers(draft: Draft, questions: readonly Question[]): Answers {
  const answers = questions.map((question) => [question.id, answerTo(draft, question)] as const);
  return Object.fromEntries(answers.filter((entry): entry is [string, string | string[]] => entry[1] !== null));
}

/** Words come after the choices if several may be taken, and in place of one otherwise. */
function answerTo(draft: Draft, { id, choices, isMultiple }: Question): string | string[] | null {
  const { chosen, words } = draft[id] ?? { chosen: [], words: "" };
  const written = words.trim() === "" ? [] : [words.trim()];
  // In the order of the choices, not of the clicks.
  const taken = choices.map((choice) => choice.label).filter((label) => chosen.includes(label));
  if (isMultiple) return taken.length + written.length === 0 ? null : [...taken, ...written];
  return written[0] ?? taken[0] ?? null;
}
