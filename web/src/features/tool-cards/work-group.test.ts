import { expect, test } from "vitest";
import { foldOf, RECENT, secondsOf, summaryOf, type WorkGroup } from "@/features/tool-cards/work-group";
import type { WorkPart } from "@/protocol/segments";
import { en } from "@/text/en";

let made = 0;

function call(toolName: string, kind: string, input: unknown, more: object = {}): WorkPart {
  const state = { state: "output-available", output: "" };
  const metadata = { toolMetadata: { kind, duration: 2 } };
  return {
    type: "dynamic-tool",
    toolName,
    toolCallId: `call-${made++}`,
    input,
    ...state,
    ...metadata,
    ...more,
  } as WorkPart;
}

const read = (path: string, more: object = {}) => call("read_file", "read", { path }, more);
const run = (command: string, more: object = {}) => call("run_shell_command", "execute", { command }, more);
const thought: WorkPart = { type: "reasoning", text: "Hm.", state: "done" };

function group(parts: WorkPart[], more: Partial<WorkGroup> = {}): WorkGroup {
  const turns = parts.map(() => 1);
  return { parts, turns, isLive: false, isSettled: true, agentCalls: new Set(), keeps: () => false, ...more };
}

test("a group that is done folds to one line that counts what was done", () => {
  const parts = [thought, read("a"), read("b"), run("ls"), read("c"), run("pwd")];
  expect(foldOf(group(parts))).toEqual({ folded: parts, shown: [] });
  expect(summaryOf(parts, new Set(), en)).toBe("Read 3 files, ran 2 commands");
  expect(summaryOf([read("a"), read("a"), run("ls"), run("ls")], new Set(), en)).toBe("Read 1 file, ran 2 commands");
  expect(summaryOf([thought, thought], new Set(), en)).toBe("Thought");
});

test("a call that was declined is not counted as done", () => {
  const declined = run("rm", { state: "output-denied" });
  expect(summaryOf([read("a"), declined, run("ls")], new Set(), en)).toBe("Read 1 file, ran 1 command, 1 declined");
  expect(summaryOf([declined, declined], new Set(), en)).toBe("2 declined");
});

test("a single call is a line of its own", () => {
  const parts = [thought, read("a")];
  expect(foldOf(group(parts))).toEqual({ folded: [], shown: parts });
});

test("failures, questions and cards of their own stay visible", () => {
  const failed = read("b", { state: "output-error", errorText: "gone" });
  const asked = run("rm", { state: "approval-requested", approval: { id: "1" } });
  const card = read("chart");
  const parts = [read("a"), failed, asked, card];
  expect(foldOf(group(parts, { keeps: (part) => part === card })).shown).toEqual([failed, asked, card]);
  const many = Array.from({ length: 9 }, () => read("x", { state: "output-error", errorText: "gone" }));
  expect(foldOf(group(many)).shown.length).toBe(3);
});

test("during the work the newest steps and those that run are shown, the earlier ones are folded", () => {
  const running = run("make", { state: "input-available" });
  const parts = [running, ...Array.from({ length: 30 }, (_, number) => read(`f${number}`))];
  const { folded, shown } = foldOf(group(parts, { isLive: true, isSettled: false }));
  expect(shown.length).toBe(RECENT + 1);
  expect(shown[0]).toBe(running);
  expect(shown.at(-1)).toBe(parts.at(-1));
  expect(folded.length).toBe(parts.length - RECENT - 1);
  const few = parts.slice(0, 5);
  expect(foldOf(group(few, { isLive: true, isSettled: false })).shown).toEqual(few);
});

test("the time of a turn is its longest call if all of them only read, otherwise their sum", () => {
  expect(secondsOf({ parts: [read("a"), read("b"), run("ls"), run("ls")], turns: [1, 1, 2, 2] })).toBe(6);
});
