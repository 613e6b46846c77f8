import { expect, test } from "vitest";
import { callState, callTitle, declineReason, inputSummary, outputSummary } from "@/features/tool-cards/tool-view";
import type { ToolPart } from "@/protocol/message";
import { en } from "@/text/en";

function part(fields: object): ToolPart {
  return { type: "dynamic-tool", toolName: "add", toolCallId: "1", input: {}, ...fields } as ToolPart;
}

test.each([
  [{ state: "input-streaming" }, true, "writing"],
  [{ state: "input-available" }, true, "running"],
  [{ state: "approval-requested", approval: { id: "a" } }, true, "waiting"],
  [{ state: "approval-responded", approval: { id: "a", approved: true } }, true, "running"],
  [{ state: "output-available", output: 1, preliminary: true }, true, "running"],
  [{ state: "output-available", output: 1 }, true, "done"],
  [{ state: "output-error", errorText: "no" }, false, "failed"],
  [{ state: "output-error", errorText: "no", toolMetadata: { status: "interrupted" } }, false, "interrupted"],
  [{ state: "output-denied" }, false, "denied"],
  [{ state: "input-available" }, false, "interrupted"],
  [{ state: "approval-requested", approval: { id: "a" } }, false, "waiting"],
])("the call %j, live: %s, is %s", (fields, isLive, state) => {
  expect(callState(part(fields), isLive)).toBe(state);
});

test("a call is named by its title, otherwise by its tool", () => {
  expect(callTitle(part({ state: "input-available", title: "Add numbers" }), en)).toBe("Add numbers");
  expect(callTitle(part({ state: "input-available" }), en)).toBe("Add");
  expect(callTitle({ ...part({ state: "input-available" }), type: "tool-find" } as ToolPart, en)).toBe("Find");
});

test("the call of an agent keeps its name when it runs and its title names the task, too", () => {
  const [before, after] = ["Scribe", "Scribe: write down mint"].map((title) =>
    part({ state: "input-available", title }),
  );
  expect(callTitle(before as ToolPart, en, true)).toBe("Scribe");
  expect(callTitle(after as ToolPart, en, true)).toBe("Scribe");
  expect(callTitle(part({ state: "input-available", title: "my_agent: dig" }), en, true)).toBe("My agent");
});

test.each([
  [{ actionName: "Open", url: "https://a.example" }, "https://a.example"],
  [{ a: 1, b: 2 }, "a: 1, b: 2"],
  [{ query: "two\n lines" }, "two lines"],
  [{ list: [1, 2] }, '{"list":[1,2]}'],
  [{}, ""],
  [undefined, ""],
])("the input %j is summarized as %j", (input, summary) => {
  expect(inputSummary(input)).toBe(summary);
});

test.each([
  [{ state: "output-available", output: "6223" }, "6223"],
  [{ state: "output-available", output: 6223 }, "6223"],
  [{ state: "output-available", output: true }, "true"],
  [{ state: "output-available", output: "40 %", preliminary: true }, ""],
  [{ state: "output-available", output: "two\nlines" }, ""],
  [{ state: "output-available", output: "x".repeat(41) }, ""],
  [{ state: "output-available", output: { a: 1 } }, ""],
  [{ state: "input-available" }, ""],
])("the call %j has the result %j in its line", (fields, result) => {
  expect(outputSummary(part(fields))).toBe(result);
});

test.each([
  [{ state: "output-denied", approval: { id: "a", approved: false, reason: "Too expensive." } }, "Too expensive."],
  [{ state: "output-denied", approval: { id: "a", approved: false, reason: "timeout" } }, ""],
  [{ state: "output-denied" }, ""],
  [{ state: "output-available", output: 1, approval: { id: "a", approved: true, reason: "Fine." } }, ""],
])("the call %j was declined because of %j", (fields, reason) => {
  expect(declineReason(part(fields))).toBe(reason);
});
