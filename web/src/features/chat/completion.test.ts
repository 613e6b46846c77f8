import { expect, test } from "vitest";
import { complete, completionAt } from "@/features/chat/completion";

const SKILLS = [
  { name: "code-review", description: "" },
  { name: "review", description: "" },
  { name: "translate", description: "" },
];

const names = (text: string) => completionAt(text, text.length, SKILLS)?.matches.map((skill) => skill.name);

test.each([
  ["/", ["code-review", "review", "translate"]],
  ["please /sk", ["code-review", "review", "translate"]],
  ["please /skill/re", ["review", "code-review"]],
  ["/skill/x", undefined],
  ["a/b", undefined],
  ["/other", undefined],
  ["/skill/review done", undefined],
])("%j completes to %j", (text, found) => {
  expect(names(text)).toEqual(found);
});

test("choosing replaces the word and leaves the rest of the text", () => {
  const text = "first /skill/re then";
  const completion = completionAt(text, 15, SKILLS);
  expect(completion).not.toBeNull();
  if (completion !== null) {
    expect(complete(text, completion, "review")).toEqual({ text: "first /skill/review then", caret: 20 });
  }
});
