import { expect, test } from "vitest";
import { type TrialBackend, TrialStore } from "@/features/tools/trial";
import type { RunEntry } from "@/protocol/events.gen";

const ASK = {
  ask_id: "k",
  call_id: "c",
  payload: { tool: "look", args: { at: 1 }, reason: "it writes" },
  timeout: null,
};

/** A server with one run, whose entries come as they are told. */
function desk(outcome: unknown = { result: { llm_content: "42" }, error: null, duration: 1.5 }) {
  const log: unknown[] = [];
  let tell: (entries: RunEntry[] | null) => void = () => {};
  const backend: TrialBackend = {
    start: async (tool, args) => {
      log.push(["start", tool, args]);
      return "r";
    },
    async *follow() {
      for (;;) {
        const entries = await new Promise<RunEntry[] | null>((resolve) => (tell = resolve));
        if (entries === null) return;
        yield entries;
      }
    },
    outcome: async () => outcome,
    answer: async (id, isAllowed) => void log.push(["answer", id, isAllowed]),
    cancel: async (id) => void log.push(["cancel", id]),
    act: (call) => void log.push(["act", call]),
  };
  const say = async (entries: unknown[] | null) => {
    await new Promise((resolve) => setTimeout(resolve));
    tell(entries as RunEntry[] | null);
    await new Promise((resolve) => setTimeout(resolve));
  };
  return { backend, log, say };
}

test("a call that asks shows its question, and its result after the answer", async () => {
  const { backend, log, say } = desk();
  const trial = new TrialStore(backend);
  const running = trial.run("look", { at: 1 });
  await say([{ type: "ask-request", kind: "approval", ...ASK }]);
  expect(trial.read().question).toEqual({ askId: "k", reason: "it writes" });
  await trial.answer(true);
  expect(trial.read().question).toBeNull();
  await say(null);
  await running;
  expect(log).toEqual([
    ["start", "look", { at: 1 }],
    ["answer", "k", true],
  ]);
  expect(trial.read()).toEqual({ phase: "done", question: null, text: "42", error: null, seconds: 1.5 });
});

test("a call that is declined shows why it did not run", async () => {
  const { backend, say } = desk({ result: {}, error: { message: "The user declined this call." }, duration: 0 });
  const trial = new TrialStore(backend);
  const running = trial.run("look", {});
  await say(null);
  await running;
  expect([trial.read().phase, trial.read().text]).toEqual(["failed", "The user declined this call."]);
});

test("a browser tool acts in this tab, and leaving ends only a call that waits for an answer", async () => {
  const { backend, log, say } = desk();
  const trial = new TrialStore(backend);
  void trial.run("look", {});
  await say([{ type: "ask-request", kind: "browser", ...ASK }]);
  trial.leave(); // such as when the page that it opens comes to the front
  expect(log.slice(1)).toEqual([["act", { askId: "k", callId: "c", toolName: "look", input: { at: 1 } }]]);
  await say([{ type: "ask-request", kind: "approval", ...ASK }]);
  trial.leave();
  expect(log.at(-1)).toEqual(["cancel", "r"]);
});
