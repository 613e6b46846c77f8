import { expect, test } from "vitest";
import { iconFor, titleFor } from "@/features/attention/page-badge";
import { WaitingStore, wordsOf } from "@/features/attention/waiting-store";
import { parseWaiting, type WaitingAsk } from "@/protocol/feed";
import { en } from "@/text/en";
import { zh } from "@/text/zh";

const STORED = {
  ask_id: "a",
  kind: "approval",
  call_id: "c",
  payload: { tool: "write_file", args: { path: "notes.md", content: "long" }, agent_path: ["master", "scribe"] },
  session_id: "task",
  parent_session_id: "chat",
  session_title: "Notes",
  agent: "master",
  created_at: "2026-11-16T10:00:00Z",
};

function waiting(id: string): WaitingAsk {
  const [ask] = parseWaiting({ asks: [{ ...STORED, ask_id: id }] });
  if (ask === undefined) throw new Error("no ask");
  return ask;
}

test("what waits is named by its tool and what the tool is about", () => {
  expect(waiting("a")).toMatchObject({ chatTitle: "Notes", agent: "scribe" });
  expect(wordsOf(waiting("a"), en)).toBe("Write file notes.md");
  expect(wordsOf(waiting("a"), zh)).toBe("写入文件 notes.md");
  const question = { ...STORED, kind: "question", payload: { questions: [{ id: "q", question: "Which one?" }] } };
  expect(parseWaiting({ asks: [question] }).map((ask) => wordsOf(ask, en))).toEqual(["Which one?"]);
  expect(parseWaiting({ asks: [{ ...STORED, kind: "browser" }] })).toEqual([]);
});

test("a call that changes a file is to be looked at before it is allowed", () => {
  const payload = { ...STORED.payload, preview: { kind: "diff", path: "notes.md", diff: "" } };
  const [ask] = parseWaiting({ asks: [{ ...STORED, payload }] });
  expect([ask?.changesFile, waiting("a").changesFile]).toEqual([true, false]);
});

test("what begins to wait is reported once, and not what waited before the page was opened", async () => {
  let asks = [waiting("old")];
  const store = new WaitingStore(async () => asks);
  const reported: string[][] = [];
  store.onNew = (fresh) => reported.push(fresh.map((ask) => ask.id));
  await store.refresh();
  asks = [...asks, waiting("new")];
  await store.refresh();
  await store.refresh();
  expect(reported).toEqual([["new"]]);
});

test("a chat waits also for what is asked in its background", async () => {
  const store = new WaitingStore(async () => [waiting("a")]);
  await store.refresh();
  expect([...store.read().sessionIds]).toEqual(["task", "chat"]);
  store.forget((ask) => ask.id === "a");
  expect(store.read()).toEqual({ asks: [], sessionIds: new Set() });
});

test("an unreachable server leaves what waits as it was", async () => {
  const answers = [[waiting("a")], null];
  const store = new WaitingStore(async () => answers.shift() ?? Promise.reject(new Error("gone")));
  await store.refresh();
  await store.refresh();
  expect(store.read().asks.length).toBe(1);
});

test("the title and the icon show what matters most", () => {
  const of = (waiting: number, running: number) => [titleFor({ waiting, running }, en), iconFor({ waiting, running })];
  expect(of(2, 1)).toEqual(["(2) waiting · Dovetail", "/favicon-waiting.svg"]);
  expect(of(0, 1)).toEqual(["Working · Dovetail", "/favicon-running.svg"]);
  expect(of(0, 0)).toEqual(["Dovetail", "/favicon.svg"]);
});
