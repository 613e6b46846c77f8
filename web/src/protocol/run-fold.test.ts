import { expect, test } from "vitest";
import type { RunEntry, RunEvent } from "@/protocol/events.gen";
import { parseEntry } from "@/protocol/journal";
import { partsOf, type Runs } from "@/protocol/run";
import { foldEntry } from "@/protocol/run-fold";

function entry(event: RunEvent, path = ["root", "child"]): RunEntry {
  return { ...event, number: 1, run_id: path.at(-1) ?? "", path, time: 0 };
}

const START: RunEvent = {
  type: "run-start",
  agent: "researcher",
  model: "m",
  generation: 1,
  session_id: null,
  parent_call_id: "call",
  setup: null,
};

const USAGE = {
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  cost: null,
};

function play(...events: RunEvent[]): Runs {
  return events.map((event) => entry(event)).reduce(foldEntry, {});
}

function partsOfChild({ child }: Runs) {
  return child === undefined ? null : partsOf(child);
}

test("a child's text and calls become a transcript", () => {
  const runs = play(
    START,
    { type: "tool-input-start", call_id: "1", name: "find" },
    { type: "tool-input-end", call_id: "1", name: "find", args: { query: "joints" } },
    { type: "tool-progress", call_id: "1", output: "half" },
    { type: "tool-end", call_id: "1", status: "ok", result: { llm_content: "3 found" }, error: null, duration: 0.5 },
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: "There are " },
    { type: "text-delta", id: "t", delta: "three." },
    { type: "text-end", id: "t" },
    { type: "run-end", reason: "goal", result: null, usage: USAGE, error: null, limit: null, notice: null },
  );
  expect(runs["child"]).toMatchObject({
    runId: "child",
    path: ["root", "child"],
    isWhole: true,
    parentCallId: "call",
    agent: "researcher",
    state: "done",
  });
  expect(partsOfChild(runs)).toEqual([
    {
      type: "dynamic-tool",
      toolName: "find",
      toolCallId: "1",
      state: "output-available",
      input: { query: "joints" },
      output: "3 found",
      preliminary: false,
      toolMetadata: { status: "ok", duration: 0.5 },
    },
    { type: "text", text: "There are three.", state: "done" },
  ]);
});

test("a message that the run took during its work is a step with what a person wrote", () => {
  const parts = [{ type: "text", text: "and sing" }];
  const content = [{ role: "user", content: "and sing" }];
  const runs = play(START, { type: "user-message", message_id: "m", kind: "steer", parts, content });
  expect(partsOfChild(runs)).toEqual([{ type: "data-user-message", id: "m", data: { kind: "steer", parts } }]);
  expect(runs["child"]?.steps).toMatchObject([{ kind: "message", detail: "and sing", end: 0 }]);
});

test.each([
  ["goal", "done"],
  ["cancelled", "stopped"],
  ["interrupted", "stopped"],
  ["max-turns", "failed"],
  ["error", "failed"],
] as const)("a run that ends for %s is %s", (reason, state) => {
  const runs = play(START, {
    type: "run-end",
    reason,
    result: null,
    usage: USAGE,
    error: null,
    limit: null,
    notice: null,
  });
  expect(runs["child"]?.state).toBe(state);
});

test("failed and declined calls keep their reason", () => {
  const runs = play(
    START,
    { type: "tool-input-end", call_id: "1", name: "rm", args: {} },
    { type: "tool-end", call_id: "1", status: "error", result: null, error: { message: "no such file" }, duration: 0 },
    { type: "tool-input-end", call_id: "2", name: "rm", args: {} },
    { type: "tool-end", call_id: "2", status: "denied", result: null, error: null, duration: 0 },
  );
  expect(partsOfChild(runs)).toMatchObject([
    { state: "output-error", errorText: "no such file" },
    { state: "output-denied" },
  ]);
});

test("events of a run that has not begun change nothing", () => {
  const before: Runs = {};
  expect(foldEntry(before, entry({ type: "text-start", id: "t" }))).toBe(before);
});

test("a child's call waits for its approval and continues after it", () => {
  const ask: RunEvent = {
    type: "ask-request",
    ask_id: "ask",
    kind: "approval",
    call_id: "1",
    payload: { title: "Write a note", reason: "it writes" },
    timeout: null,
  };
  const before = play(START, { type: "tool-input-end", call_id: "1", name: "write", args: {} }, ask);
  expect(partsOfChild(before)).toMatchObject([
    { title: "Write a note", state: "approval-requested", approval: { id: "ask", requestReason: "it writes" } },
  ]);
  const after = foldEntry(before, entry({ type: "ask-answer", ask_id: "ask", value: { approved: true } }));
  expect(partsOfChild(after)).toMatchObject([{ state: "approval-responded", approval: { approved: true } }]);
});

/** Random numbers, the same for the same seed. */
function seeded(seed: number) {
  let state = seed;
  return (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

type Random = ReturnType<typeof seeded>;
type Event = [path: string[], event: RunEvent];

/** The events of a run that reasons, writes, asks, calls tools in parallel and starts sub-agents. */
function randomRun(random: Random, path: string[], parentCallId: string | null): Event[] {
  const start = { ...START, parent_call_id: parentCallId } as RunEvent;
  const turns: Event[] = [];
  for (let turn = 1; turn <= 1 + random(3); turn++) turns.push(...randomTurn(random, path, turn));
  const end: RunEvent = {
    type: "run-end",
    reason: "goal",
    result: null,
    usage: USAGE,
    error: null,
    limit: null,
    notice: null,
  };
  return [[path, start], ...turns, [path, end]];
}

function randomTurn(random: Random, path: string[], turn: number): Event[] {
  const request: RunEvent = {
    type: "model-request",
    turn,
    model: "m",
    messages: [{ role: "user", content: String(turn) }],
    kept: turn - 1,
    tools: [],
    tool_choice: "auto",
    purpose: "answer",
  };
  const reset: RunEvent[] =
    random(5) === 0 ? [...randomText(random, `${turn} void`).slice(0, -1), { type: "turn-reset" }] : [];
  const said = [request, ...reset, ...randomText(random, `${turn}`)];
  const calls = Array.from({ length: random(3) }, (_, index) => randomCall(random, path, `${turn}.${index}`));
  const end: RunEvent = { type: "turn-end", turn, usage: USAGE, finish_reason: "stop", model: "", timing: null };
  return [...said.map((event): Event => [path, event]), ...interleave(random, calls), [path, end]];
}

function randomText(random: Random, id: string): RunEvent[] {
  const kind = random(2) === 0 ? "text" : "reasoning";
  const deltas = Array.from(
    { length: random(4) },
    (_, index): RunEvent => ({ type: `${kind}-delta`, id, delta: `${index} ` }),
  );
  return [{ type: `${kind}-start`, id }, ...deltas, { type: `${kind}-end`, id }];
}

function randomCall(random: Random, path: string[], id: string): Event[] {
  const own = (...events: RunEvent[]): Event[] => events.map((event) => [path, event]);
  const ask = { ask_id: `${path.at(-1)} ${id}`, kind: "approval", call_id: id, payload: {}, timeout: null } as const;
  const status = (["ok", "error", "denied"] as const)[random(3)] ?? "ok";
  return [
    ...own({ type: "tool-input-start", call_id: id, name: "work" }),
    ...own({ type: "tool-input-end", call_id: id, name: "work", args: { id } }),
    ...(random(3) === 0 ? own({ type: "ask-request", ...ask }) : []),
    ...(random(3) === 0 ? own({ type: "ask-answer", ask_id: ask.ask_id, value: { approved: true } }) : []),
    ...own({ type: "tool-start", call_id: id, kind: "read", title: "Work", may_repeat: false }),
    ...(random(2) === 0 ? own({ type: "tool-progress", call_id: id, output: "half" }) : []),
    ...(path.length < 3 && random(3) === 0 ? randomRun(random, [...path, `${path.at(-1)}/${id}`], id) : []),
    ...own({ type: "tool-end", call_id: id, status, result: { data: id }, error: null, duration: 1 }),
  ];
}

function interleave(random: Random, lists: Event[][]): Event[] {
  const rest = lists.map((list) => [...list]);
  const mixed: Event[] = [];
  while (rest.some((list) => list.length > 0)) mixed.push(...(rest[random(rest.length)]?.splice(0, 1) ?? []));
  return mixed;
}

/** The entries as they are stored: adjacent deltas of a text are joined. */
function joined(entries: RunEntry[]): RunEntry[] {
  const kept: RunEntry[] = [];
  for (const entry of entries) {
    const last = kept.at(-1);
    const isSame = last !== undefined && "delta" in last && last.type === entry.type && last.run_id === entry.run_id;
    if (isSame && "delta" in entry) kept[kept.length - 1] = { ...last, delta: last.delta + entry.delta } as RunEntry;
    else kept.push(entry);
  }
  return kept;
}

test("a journal cut anywhere and read again from its start, or from store, is the same as seen live", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = seeded(seed);
    const events = randomRun(random, ["root"], null);
    const entries = events.map(
      ([path, event], index): RunEntry => ({ ...entry(event, path), number: index + 1, time: index }),
    );
    const live = entries.reduce(foldEntry, {});
    const seen = entries.slice(0, random(entries.length)).reduce(foldEntry, {});
    expect(entries.reduce(foldEntry, seen), `seed ${seed}`).toEqual(live);
    const stored = joined(entries).map((one) => JSON.stringify(one));
    expect(
      stored
        .map(parseEntry)
        .filter((one) => one !== null)
        .reduce(foldEntry, {}),
      `seed ${seed}`,
    ).toEqual(live);
  }
}, 30_000);
