/** Questions of an agent or a tool, read from the payload of an ask: `questions`, a `schema`, or a `message`. */

import { isRecord, type Json, list, record, text } from "@/protocol/shapes";

export interface Choice {
  label: string;
  description: string;
}

export interface Question {
  id: string;
  question: string;
  description: string;
  choices: readonly Choice[];
  /** Whether several choices may be taken. */
  isMultiple: boolean;
  /** Whether an answer in words is possible. */
  isFree: boolean;
}

export type Answers = Readonly<Record<string, string | readonly string[]>>;

export interface Questionnaire {
  /** What is asked in general; empty if the questions say it themselves. */
  message: string;
  questions: readonly Question[];
  /** The value to answer the ask with. */
  toValue: (answers: Answers) => unknown;
}

const ONLY = "answer";

export function readQuestionnaire(payload: Json): Questionnaire {
  const message = text(payload["message"]) || text(payload["question"]) || text(payload["text"]);
  const questions = list(payload["questions"]).filter(isRecord).map(readQuestion);
  if (questions.length > 0) return { message, questions, toValue: (answers) => ({ answers }) };
  const schema = record(payload["schema"] ?? payload["requestedSchema"]);
  const members = Object.entries(record(schema["properties"])).filter((entry): entry is [string, Json] =>
    isRecord(entry[1]),
  );
  if (members.length === 0) {
    const only = { ...NOTHING, id: ONLY, question: message || JSON.stringify(payload), isFree: true };
    return { message: "", questions: [only], toValue: (answers) => answers[ONLY] ?? "" };
  }
  return {
    message,
    questions: members.map(([name, member]) => memberQuestion(name, member)),
    toValue: (answers) =>
      Object.fromEntries(
        members
          .filter(([name]) => answers[name] !== undefined)
          .map(([name, member]) => [name, typed(answers[name] ?? "", member)]),
      ),
  };
}

const NOTHING = { description: "", choices: [], isMultiple: false, isFree: false };

function readQuestion(value: Json): Question {
  const choices = list(value["choices"]).map(readChoice);
  return {
    id: text(value["id"]),
    question: text(value["question"]),
    description: text(value["description"]),
    choices,
    isMultiple: value["multiple"] === true,
    isFree: choices.length === 0 || value["free_text"] === true,
  };
}

function readChoice(value: unknown): Choice {
  if (!isRecord(value)) return { label: String(value), description: "" };
  return { label: text(value["label"]), description: text(value["description"]) };
}

/** A member of a schema as a question: one of its values, yes or no, or words. */
function memberQuestion(name: string, member: Json): Question {
  const items = record(member["items"]);
  const isMultiple = member["type"] === "array";
  const choices = choicesOf(isMultiple ? items : member);
  return {
    id: name,
    question: text(member["title"]) || name,
    description: text(member["description"]),
    choices,
    isMultiple,
    isFree: choices.length === 0,
  };
}

function choicesOf(member: Json): Choice[] {
  if (member["type"] === "boolean") return [TRUE, FALSE];
  const titled = [...list(member["oneOf"]), ...list(member["anyOf"])].filter(isRecord).filter((one) => "const" in one);
  if (titled.length > 0) {
    return titled.map((one) => ({ label: String(one["const"]), description: text(one["title"]) }));
  }
  const names = list(member["enumNames"]).map(String);
  return list(member["enum"]).map((value, at) => ({ label: String(value), description: names[at] ?? "" }));
}

/** The choices of a value that is true or false; the page writes them in its language. */
export const TRUE: Choice = { label: "true", description: "" };
export const FALSE: Choice = { label: "false", description: "" };

/** An answer as the schema wants it: a number, true or false, a list, or words. */
function typed(answer: string | readonly string[], member: Json): unknown {
  if (typeof answer !== "string") return [...answer];
  switch (member["type"]) {
    case "boolean":
      return answer === TRUE.label;
    case "number":
    case "integer":
      return answer.trim() !== "" && Number.isFinite(Number(answer)) ? Number(answer) : answer;
    case "array":
      return [answer];
    default:
      return answer;
  }
}
