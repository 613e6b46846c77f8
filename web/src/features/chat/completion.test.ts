import { expect, test } from "vitest";
import { complete, completionAt, mentionedAgent, type Suggestion, wordFor } from "@/features/chat/completion";

const make = (kind: Suggestion["kind"], name: string, title = name): Suggestion => ({
  kind,
  name,
  title,
  description: "",
});

const ALL = [
  make("agent", "master", "Assistant"),
  make("agent", "scribe", "Scribe"),
  make("prompt", "explain", "Explain something"),
  make("skill", "code-review"),
  make("skill", "review"),
  make("skill", "translate", "翻译"),
  make("command", "attach", "Attach files"),
];

const found = (text: string) =>
  completionAt(text, text.length, ALL)?.matches.map(({ kind, name }) => `${kind} ${name}`);

test.each([
  ["/", ["prompt explain", "skill code-review", "skill review", "skill translate", "command attach"]],
  ["please /sk", ["skill code-review", "skill review", "skill translate"]],
  ["please /skill/re", ["skill review", "skill code-review"]],
  ["/rv", ["skill review", "skill code-review"]],
  ["/prompt/ex", ["prompt explain"]],
  ["/prompt", ["prompt explain"]],
  ["/something", ["prompt explain"]],
  ["@", ["agent master", "agent scribe"]],
  ["hello @scr", ["agent scribe"]],
  ["@assist", ["agent master"]],
  ["请@scr", ["agent scribe"]],
  ["请让，＠ma", ["agent master"]],
  ["／翻译", ["skill translate"]],
  ["、翻", ["skill translate"]],
  ["/skill/x", undefined],
  ["/view", undefined],
  ["a/b", undefined],
  ["and/or", undefined],
  ["me@scribe", undefined],
  ["https://example.org/re", undefined],
  ["/skill/review done", undefined],
  ["苹果、", undefined],
  ["", undefined],
])("%j completes to %j", (text, names) => {
  expect(found(text)).toEqual(names);
});

test.each([
  ["first /skill/re then", 15, "skill review", { text: "first /skill/review then", caret: 20 }],
  ["@scr", 4, "agent scribe", { text: "@scribe ", caret: 8 }],
  ["go /expl now", 8, "prompt explain", { text: "go  now", caret: 3 }],
])("choosing in %j replaces the word and leaves the rest", (text, caret, wanted, result) => {
  const completion = completionAt(text, caret, ALL);
  const chosen = completion?.matches.find(({ kind, name }) => `${kind} ${name}` === wanted);
  if (completion === null || chosen === undefined) throw new Error("nothing was found");
  expect(complete(text, completion, wordFor(chosen))).toEqual(result);
});

test.each([
  ["@scribe write this down", "scribe"],
  ["please, @scribe: write", "scribe"],
  ["@unknown and @scribe.", "scribe"],
  ["请@scribe写下来", "scribe"],
  ["mail me@scribe", null],
  ["@scribes", null],
  ["no one", null],
])("%j is for %j", (text, agent) => {
  expect(mentionedAgent(text, new Set(["master", "scribe"]))).toBe(agent);
});
