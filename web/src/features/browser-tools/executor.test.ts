import { expect, test } from "vitest";
import {
  asHandler,
  type BrowserCall,
  type ExecutorBackend,
  FrontendToolExecutor,
  INTERRUPTED,
  type Standing,
} from "@/features/browser-tools/executor";
import { type Acknowledgement, Ledger } from "@/features/browser-tools/ledger";

const CALL: BrowserCall = {
  askId: "ask",
  callId: "call",
  toolName: "open-url",
  input: { url: "https://a.example" },
  isForThisTab: true,
};

/** Leases and acknowledgements as the server keeps them. */
class Desk implements ExecutorBackend {
  holder: string | null = null;
  readonly answers: Array<[string, Acknowledgement]> = [];
  async claim(_askId: string, tabId: string): Promise<boolean> {
    this.holder ??= tabId;
    return this.holder === tabId && this.answers.length === 0;
  }
  async acknowledge(callId: string, acknowledgement: Acknowledgement): Promise<void> {
    this.answers.push([callId, acknowledgement]);
  }
  acknowledgeLast(callId: string, acknowledgement: Acknowledgement): void {
    this.answers.push([callId, acknowledgement]);
  }
  async look(_askId: string, tabId: string): Promise<Standing> {
    if (this.answers.length > 0) return "over";
    return this.holder === null || this.holder === tabId ? "free" : "taken";
  }
}

/** A ledger in a storage of its own. */
function newLedger(): Ledger {
  const items = new Map<string, string>();
  return new Ledger({ getItem: (key) => items.get(key) ?? null, setItem: (key, value) => void items.set(key, value) });
}

function tab(desk: Desk, ledger = newLedger(), tabId = "tab", sleep?: (milliseconds: number) => Promise<void>) {
  const executor = new FrontendToolExecutor(tabId, desk, ledger, sleep);
  const calls: unknown[] = [];
  executor.register("open-url", async ({ input }) => {
    calls.push(input);
    return { status: "success", output: "opened" };
  });
  return { executor, calls };
}

test("a call that arrives many times runs once and is acknowledged once", async () => {
  const desk = new Desk();
  const { executor, calls } = tab(desk);
  await Promise.all([executor.execute(CALL), executor.execute(CALL), executor.execute(CALL)]);
  await executor.execute(CALL);
  expect(calls).toEqual([CALL.input]);
  expect(desk.answers).toEqual([["call", { status: "success", output: "opened" }]]);
});

test("only one of two tabs acts", async () => {
  const desk = new Desk();
  const ledger = newLedger();
  const tabs = [tab(desk, ledger, "one"), tab(desk, ledger, "two")];
  await Promise.all(tabs.map(({ executor }) => executor.execute(CALL)));
  expect(tabs.flatMap(({ calls }) => calls)).toHaveLength(1);
  expect(desk.answers).toHaveLength(1);
});

test("a call interrupted by a reload fails and does not run again", async () => {
  const desk = new Desk();
  const ledger = newLedger();
  ledger.write("ask", { state: "begun" });
  const { executor, calls } = tab(desk, ledger);
  await executor.execute(CALL);
  expect(calls).toEqual([]);
  expect(desk.answers).toEqual([["call", INTERRUPTED]]);
});

test("a result that was not delivered before a reload is sent again without running again", async () => {
  const desk = new Desk();
  const ledger = newLedger();
  ledger.write("ask", { state: "done", acknowledgement: { status: "success", output: 7 } });
  const { executor, calls } = tab(desk, ledger);
  await executor.execute(CALL);
  expect(calls).toEqual([]);
  expect(desk.answers).toEqual([["call", { status: "success", output: 7 }]]);
});

test("a result that could not be sent is sent when the call arrives again, without running again", async () => {
  const desk = new Desk();
  const { executor, calls } = tab(desk);
  const send = desk.acknowledge.bind(desk);
  desk.acknowledge = async () => {
    throw new Error("offline");
  };
  await expect(executor.execute(CALL)).rejects.toThrow("offline");
  desk.acknowledge = send;
  await executor.execute(CALL);
  expect(calls).toHaveLength(1);
  expect(desk.answers).toEqual([["call", { status: "success", output: "opened" }]]);
});

test("a damaged ledger counts as empty, and only the newest entries are kept", () => {
  const items = new Map([["dovetail.browser-tools", "{"]]);
  const storage = {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
  };
  const ledger = new Ledger(storage);
  expect(ledger.read("0")).toBeNull();
  for (let id = 0; id <= 200; id++) ledger.write(String(id), { state: "begun" });
  expect([ledger.read("0"), ledger.read("200")]).toEqual([null, { state: "begun" }]);
});

test("a handler that throws fails with its message", async () => {
  const desk = new Desk();
  const executor = new FrontendToolExecutor("tab", desk, newLedger());
  executor.register("open-url", async () => {
    throw new Error("no window");
  });
  await executor.execute(CALL);
  expect(desk.answers).toEqual([["call", { status: "failed", errorText: "no window" }]]);
});

test("a tool without a handler fails at once in the tab that the run belongs to", async () => {
  const desk = new Desk();
  const { executor } = tab(desk);
  await executor.execute({ ...CALL, toolName: "other" });
  const errorText = 'This page has no handler for the browser tool "other".';
  expect(desk.answers).toEqual([["call", { status: "failed", errorText }]]);
});

test("a tool without a handler is ignored in any other tab", async () => {
  const desk = new Desk();
  const { executor } = tab(desk);
  await executor.execute({ ...CALL, toolName: "other", isForThisTab: false });
  expect([desk.holder, desk.answers]).toEqual([null, []]);
});

test("a tool without a handler is looked for once more before its call is refused", async () => {
  const desk = new Desk();
  const executor = new FrontendToolExecutor(
    "tab",
    Object.assign(desk, {
      findHandlers: async () => executor.adopt(new Map([["highlight", asHandler("highlight", () => ({ marked: 2 }))]])),
    }),
    newLedger(),
  );
  await executor.execute({ ...CALL, toolName: "highlight" });
  expect(desk.answers).toEqual([["call", { status: "success", output: { marked: 2 } }]]);
});

test("a handler of a folder that throws fails the call with its message", async () => {
  const desk = new Desk();
  const { executor } = tab(desk);
  const fail = () => {
    throw new Error("nothing to mark");
  };
  executor.adopt(new Map([["highlight", asHandler("highlight", fail)]]));
  await executor.execute({ ...CALL, toolName: "highlight" });
  expect(desk.answers).toEqual([["call", { status: "failed", errorText: "nothing to mark" }]]);
});

const FOREIGN: BrowserCall = { ...CALL, isForThisTab: false };

test("a call of a tab that is gone runs in another one, after a moment of courtesy", async () => {
  const desk = new Desk();
  const pauses: number[] = [];
  const { executor, calls } = tab(desk, newLedger(), "next", async (pause) => void pauses.push(pause));
  await executor.offer(FOREIGN);
  expect([calls.length, desk.answers.length, pauses.length]).toEqual([1, 1, 1]);
});

test("a call that another tab works on is left to it until it has ended", async () => {
  const desk = new Desk();
  desk.holder = "working";
  let looks = 0;
  const { executor, calls } = tab(desk, newLedger(), "next", async () => {
    if (++looks === 3) desk.answers.push(["call", INTERRUPTED]);
  });
  await executor.offer(FOREIGN);
  expect([calls, desk.answers.length, looks]).toEqual([[], 1, 3]);
});

test("a tool without a handler whose tab is gone is refused by the next one", async () => {
  const desk = new Desk();
  const { executor } = tab(desk, newLedger(), "next", async () => undefined);
  await executor.offer({ ...FOREIGN, toolName: "other" });
  expect(desk.answers).toMatchObject([
    ["call", { status: "failed", errorText: expect.stringContaining("no handler") }],
  ]);
});

test("a page that goes away acknowledges what it has begun, once", async () => {
  const desk = new Desk();
  const executor = new FrontendToolExecutor("tab", desk, newLedger());
  let finish = () => {};
  const begun = new Promise<void>((resolve) => {
    executor.register("open-url", () => {
      resolve();
      return new Promise((done) => {
        finish = () => done({ status: "success", output: "late" });
      });
    });
  });
  const running = executor.execute(CALL);
  await begun;
  executor.leave();
  finish();
  await running;
  expect(desk.answers).toEqual([["call", INTERRUPTED]]);
});
