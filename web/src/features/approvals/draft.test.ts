import { expect, test } from "vitest";
import { emptyDraft, toAnswers } from "@/features/approvals/draft";
import type { Question } from "@/protocol/question";

const question = (id: string, labels: string[], isMultiple: boolean): Question => ({
  id,
  question: id,
  description: "",
  choices: labels.map((label) => ({ label, description: "" })),
  isMultiple,
  isFree: true,
});

const QUESTIONS = [
  question("one", ["a", "b"], false),
  question("many", ["a", "b", "c"], true),
  question("words", [], false),
];

test("only questions with an answer are sent, and choices in their order", () => {
  expect(toAnswers(emptyDraft(QUESTIONS), QUESTIONS)).toEqual({});
  const draft = {
    one: { chosen: ["b"], words: "" },
    many: { chosen: ["c", "a"], words: " and d " },
    words: { chosen: [], words: "  " },
  };
  expect(toAnswers(draft, QUESTIONS)).toEqual({ one: "b", many: ["a", "c", "and d"] });
});

test("words take the place of a single choice", () => {
  const draft = { one: { chosen: ["b"], words: "neither" } };
  expect(toAnswers(draft, QUESTIONS)).toEqual({ one: "neither" });
});
