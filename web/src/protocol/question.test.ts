import { expect, test } from "vitest";
import { parsePreview } from "@/protocol/preview";
import { readQuestionnaire } from "@/protocol/question";

test("questions keep their choices, and their answers go back by id", () => {
  const { questions, toValue } = readQuestionnaire({
    questions: [
      {
        id: "q1",
        question: "Which wood?",
        choices: ["Oak", { label: "Ash", description: "lighter" }],
        free_text: true,
      },
      { id: "q2", question: "Why?" },
    ],
  });
  expect(questions).toEqual([
    {
      id: "q1",
      question: "Which wood?",
      description: "",
      choices: [
        { label: "Oak", description: "" },
        { label: "Ash", description: "lighter" },
      ],
      isMultiple: false,
      isFree: true,
    },
    { id: "q2", question: "Why?", description: "", choices: [], isMultiple: false, isFree: true },
  ]);
  expect(toValue({ q1: "Ash" })).toEqual({ answers: { q1: "Ash" } });
});

test("a schema becomes questions whose answers have its types", () => {
  const { message, questions, toValue } = readQuestionnaire({
    message: "Your order",
    schema: {
      type: "object",
      properties: {
        count: { type: "integer", title: "How many" },
        gift: { type: "boolean" },
        color: { type: "string", enum: ["red", "blue"], enumNames: ["Red", "Blue"] },
        extras: { type: "array", items: { enum: ["card", "bow"] } },
        note: { type: "string" },
      },
    },
  });
  expect(message).toBe("Your order");
  expect(questions.map((one) => [one.question, one.choices.length, one.isMultiple, one.isFree])).toEqual([
    ["How many", 0, false, true],
    ["gift", 2, false, false],
    ["color", 2, false, false],
    ["extras", 2, true, false],
    ["note", 0, false, true],
  ]);
  expect(toValue({ count: "3", gift: "true", color: "red", extras: ["bow"] })).toEqual({
    count: 3,
    gift: true,
    color: "red",
    extras: ["bow"],
  });
});

test("a question in words is answered in words", () => {
  const { questions, toValue } = readQuestionnaire({ question: "Where to?" });
  expect(questions[0]).toMatchObject({ question: "Where to?", isFree: true });
  expect(toValue({ answer: "Rome" })).toBe("Rome");
});

test("an unknown preview is none", () => {
  expect(parsePreview({ preview: { kind: "hologram" } })).toBeNull();
  expect(parsePreview({})).toBeNull();
  expect(parsePreview({ preview: { kind: "diff", path: "a", diff: "+b", is_new: true } })).toEqual({
    kind: "diff",
    path: "a",
    diff: "+b",
    isNew: true,
  });
});
