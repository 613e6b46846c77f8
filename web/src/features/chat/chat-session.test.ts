import { expect, test } from "vitest";
import type { ChatSession } from "@/features/chat/chat-session";
import { message, Stage, says, texts, view } from "@/features/chat/chat-stage";
import type { Chunk } from "@/protocol/message";
import { endOf } from "@/protocol/model-progress";

test("a message is sent to the end of the chat and its answer is shown", async () => {
  const stage = new Stage([says("Hi."), says("Again.", "a2")]);
  const session = stage.session();
  session.requestBody = () => ({ model: "m" });
  await session.submit({ text: "Hello" });
  await session.submit({ text: "More" });
  expect(texts(session)).toEqual([["Hello"], ["Hi."], ["More"], ["Again."]]);
  expect(stage.sent.map((one) => one.body)).toEqual([{ model: "m", options: {} }, { model: "m" }]);
});

test("an edited question becomes a sibling with the same parent and an id of its own", async () => {
  const stage = new Stage([says("One.", "a1"), says("Two.", "a2"), says("Three.", "a3")]);
  const session = stage.session();
  await session.submit({ text: "first" });
  await session.submit({ text: "second" });
  const old = session.state.read().messages[2]?.id ?? "";
  await session.edit(old, { text: "changed" });
  expect(texts(session)).toEqual([["first"], ["One."], ["changed"], ["Three."]]);
  expect(stage.sent[2]?.body).toEqual({ parent_id: "a1" });
  expect(stage.sent[2]?.messages.at(-1)?.id).not.toBe(old);
});

test("a retry names the question to answer", async () => {
  const stage = new Stage([says("Other.", "a2")]);
  stage.stored = view([message("u1", "user", "q"), message("a1", "assistant", "One.")]);
  const session = stage.session();
  await session.open();
  await session.retry("a1");
  expect(stage.sent[0]).toMatchObject({ trigger: "regenerate-message", messageId: "a1", body: { parent_id: "u1" } });
});

test("a question that never reached the server stays, and a retry sends it again", async () => {
  const stage = new Stage([says("Now.")]);
  stage.failure = new Error("gone");
  const session = stage.session();
  await session.submit({ text: "Hello" });
  expect(session.state.read().status).toBe("error");
  expect(texts(session)).toEqual([["Hello"]]);
  stage.failure = null;
  await session.retry(session.state.read().messages[0]?.id ?? "");
  expect(stage.sent.map((one) => one.trigger)).toEqual(["submit-message", "submit-message"]);
  expect(texts(session)).toEqual([["Hello"], ["Now."]]);
});

test("opening a session shows its stored messages and joins an answer in progress", async () => {
  const stage = new Stage([]);
  stage.stored = view([message("u1", "user", "q")], "r1");
  stage.running = says("Under way.");
  const session = stage.session();
  await session.open();
  expect(session.info().title).toBe("A title");
  expect(stage.sent).toEqual([]);
});

test("a session that cannot be loaded says why", async () => {
  const stage = new Stage([]);
  stage.view = async () => {
    throw new Error("no database");
  };
  const session = stage.session();
  await session.open();
  expect(session.info()).toMatchObject({ isLoading: false, loadError: { message: "no database" } });
});

test("a chat that the server does not know is missing until it is there", async () => {
  const stage = new Stage([]);
  stage.view = async () => null;
  const session = stage.session();
  await session.open();
  expect(session.info()).toMatchObject({ isLoading: false, isMissing: true });
  stage.view = async () => view([message("u1", "user", "q")]);
  await session.sync();
  expect(session.info().isMissing).toBe(false);
  expect(texts(session)).toEqual([["q"]]);
});

test("a new chat is not missing before its first question is stored", async () => {
  const stage = new Stage([]);
  stage.failure = new Error("gone");
  const session = stage.session();
  await session.submit({ text: "Hello" });
  expect(session.info().isMissing).toBe(false);
});

test("stopping cancels the run, not only the stream", async () => {
  const stage = new Stage([says("Hi.", "a1", "run-7")]);
  const session = stage.session();
  await session.submit({ text: "Hello" });
  await session.stop();
  expect(stage.cancelled).toEqual(["run-7"]);
});

test("switching moves the head and shows the other branch", async () => {
  const stage = new Stage([]);
  stage.stored = view([message("u1", "user", "q"), message("b1", "assistant", "Other.")]);
  const session = stage.session();
  await session.switchTo("b1");
  expect(stage.heads).toEqual(["b1"]);
  expect(texts(session)).toEqual([["q"], ["Other."]]);
});

test("a reply that was asked for before the branch was changed does not bring the old one back", async () => {
  const stage = new Stage([]);
  const old = view([message("u1", "user", "q"), message("a1", "assistant", "Old.")]);
  const other = view([message("u1", "user", "q"), message("b1", "assistant", "Other.")]);
  let reply: (stale: typeof old) => void = () => {};
  const replies = [new Promise<typeof old>((resolve) => (reply = resolve)), Promise.resolve(other)];
  stage.view = async () => (await replies.shift()) ?? other;
  const session = stage.session();
  const refreshing = session.refresh();
  await session.switchTo("b1");
  reply(old);
  await refreshing;
  expect(texts(session)).toEqual([["q"], ["Other."]]);
});

test("a slow reply about the chat does not hide what was asked and answered since", async () => {
  const stage = new Stage([says("One.", "a1"), says("Two.", "a2")]);
  const answered = view([message("u1", "user", "first"), message("a1", "assistant", "One.")]);
  const all = view([...answered.messages, message("u2", "user", "second"), message("a2", "assistant", "Two.")]);
  const session = stage.session();
  let reply: (stale: typeof answered) => void = () => {};
  const afterTheFirst = new Promise<typeof answered>((resolve) => (reply = resolve));
  const replies = [Promise.resolve(null), afterTheFirst];
  stage.view = () => replies.shift() ?? Promise.resolve(all);
  await session.submit({ text: "first" });
  await expect.poll(() => replies.length).toBe(0);
  await session.submit({ text: "second" });
  reply(answered);
  await new Promise((resolve) => setTimeout(resolve, 0)); // until the reply is dealt with
  expect(texts(session)).toEqual([["first"], ["One."], ["second"], ["Two."]]);
});

test("questions and sub-agents that come with the stream are kept", async () => {
  const ask = { ask_id: "ask", kind: "approval", call_id: "c", run_id: "r1", payload: { reason: "it writes" } };
  const started = { type: "run-start", agent: "helper", model: "m", generation: 1, parent_call_id: "c" };
  const entry = { ...started, number: 2, run_id: "k", path: ["r1", "k"], time: 1, session_id: null };
  const stage = new Stage([
    [
      { type: "start", messageId: "a1" },
      { type: "data-ask", data: ask, transient: true },
      { type: "data-subagent-event", data: entry, transient: true },
      { type: "finish" },
    ],
  ]);
  const session = stage.session();
  await session.submit({ text: "go" });
  expect(session.info().asks["ask"]).toMatchObject({ callId: "c", payload: { reason: "it writes" } });
  expect(session.info().subAgents["k"]).toMatchObject({ agent: "helper", parentCallId: "c" });
});

test("how far the model is belongs to the end of the chat at which it came", async () => {
  const reading = { phase: "read", done: 360, total: 899 };
  const stage = new Stage([
    [
      { type: "start", messageId: "a1" },
      { type: "data-model-progress", data: reading, transient: true },
      { type: "finish" },
    ],
    says("Oak.", "a2"),
  ]);
  const session = stage.session();
  await session.submit({ text: "go" });
  const { messages } = session.state.read();
  expect(session.info().progress).toEqual({ phase: "read", percent: 40, at: endOf(messages) });
  expect(messages.at(-1)?.parts).toEqual([]);
  await session.submit({ text: "go on" });
  expect(session.info().progress?.at).not.toBe(endOf(session.state.read().messages));
});

test("a broken stream is rejoined, and the answer is complete", async () => {
  const stage = new Stage([]);
  stage.sendMessages = async () => brokenOff(says("Half"));
  stage.running = says("Half and whole.");
  const session = stage.session();
  await session.submit({ text: "go" });
  await expect.poll(() => session.info().isReconnecting).toBe(false);
  expect(session.state.read().status).toBe("ready");
  expect(texts(session)).toEqual([["go"], ["Half and whole."]]);
});

test("a server that stays unreachable is reported after a few attempts", async () => {
  const stage = new Stage([]);
  let tries = 0;
  stage.sendMessages = async () => brokenOff(says("Half"));
  stage.reconnectToStream = async () => {
    tries++;
    throw new Error("gone");
  };
  const session = stage.session();
  await session.submit({ text: "go" });
  await expect.poll(() => session.info().isReconnecting).toBe(false);
  expect([tries, session.state.read().error?.message]).toEqual([2, "gone"]);
  expect(texts(session)).toEqual([["go"], ["Half"]]);
});

/** The first chunks, then a lost connection as browsers report it. */
function brokenOff(chunks: Chunk[], length = 3): ReadableStream<Chunk> {
  const rest = chunks.slice(0, length);
  return new ReadableStream({
    pull(controller) {
      const next = rest.shift();
      if (next === undefined) controller.error(new TypeError("network error"));
      else controller.enqueue(next);
    },
  });
}

type Random = (limit: number) => number;

/** The chunks of an answer with texts, calls, approvals, steps that are reset, and sub-agents. */
function randomAnswer(random: Random): Chunk[] {
  const chunks: Chunk[] = [{ type: "start", messageId: "a1", messageMetadata: { run_id: "r1" } }];
  for (let step = 0; step <= random(4); step++) {
    chunks.push({ type: "start-step" });
    if (random(4) === 0) chunks.push(...randomText(random, `${step} void`).slice(0, -1), { type: "reset-step" });
    chunks.push(...randomText(random, `${step}`));
    for (let call = 0; call < random(3); call++) chunks.push(...randomCall(random, `${step}.${call}`));
    chunks.push({ type: "finish-step" });
  }
  return [...chunks, { type: "finish", messageMetadata: { reason: "goal" } }];
}

function randomText(random: Random, id: string): Chunk[] {
  const kind = random(2) === 0 ? "text" : "reasoning";
  const deltas = Array.from(
    { length: random(4) },
    (_, index): Chunk => ({ type: `${kind}-delta`, id, delta: `${index} ` }),
  );
  return [{ type: `${kind}-start`, id }, ...deltas, { type: `${kind}-end`, id }];
}

function randomCall(random: Random, id: string): Chunk[] {
  const call = { toolCallId: id, toolName: "work", dynamic: true, providerExecuted: true };
  const child = { run_id: `k${id}`, path: ["r1", `k${id}`], time: 1 };
  const started = {
    type: "run-start",
    agent: "helper",
    model: "m",
    generation: 1,
    parent_call_id: id,
    session_id: null,
  };
  const said = [started, { type: "text-start", id: "t" }, { type: "text-delta", id: "t", delta: "Hi" }];
  return [
    { type: "tool-input-start", ...call },
    { type: "tool-input-delta", toolCallId: id, inputTextDelta: '{"a":' },
    { type: "tool-input-available", ...call, input: { a: 1 } },
    ...(random(2) === 0 ? [{ type: "tool-approval-request", approvalId: `ask ${id}`, toolCallId: id } as const] : []),
    ...(random(2) === 0
      ? said.map(
          (event, number): Chunk => ({
            type: "data-subagent-event",
            data: { ...event, ...child, number },
            transient: true,
          }),
        )
      : []),
    random(3) === 0
      ? { type: "tool-output-error", toolCallId: id, errorText: "no" }
      : { type: "tool-output-available", toolCallId: id, output: 3 },
  ];
}

/** Random numbers, the same for the same seed. */
function seeded(seed: number): Random {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

test("an answer that was cut off anywhere, or joined after a reload, looks like one seen whole", async () => {
  const shown = (session: ChatSession) => [session.state.read().messages[1], session.info().subAgents];
  for (let seed = 1; seed <= 60; seed++) {
    const random = seeded(seed);
    const chunks = randomAnswer(random);
    const whole = new Stage([chunks]).session();
    await whole.submit({ text: "go" });

    const cut = new Stage([]);
    cut.running = chunks;
    cut.sendMessages = async () => brokenOff(chunks, random(chunks.length));
    const rejoined = cut.session();
    await rejoined.submit({ text: "go" });
    await expect.poll(() => rejoined.info().isReconnecting, { interval: 1 }).toBe(false);
    expect(shown(rejoined), `seed ${seed}`).toEqual(shown(whole));

    const running = new Stage([]);
    running.running = chunks;
    const views = [view([message("u1", "user", "go")], "r1")];
    running.view = async () => views.shift() ?? null;
    const reloaded = running.session();
    await reloaded.open();
    expect(shown(reloaded), `seed ${seed}`).toEqual(shown(whole));
  }
}, 30_000);

/** An answer that stays in progress until it is ended. */

test("what was said elsewhere is shown, and a run that was started there is joined", async () => {
  const stage = new Stage([says("Hi.")]);
  const session = stage.session();
  await session.submit({ text: "Hello" });
  const shown = session.state.read().messages.map((one) => ({ ...one, parts: [...one.parts] }));
  const asked = [...shown, message("u2", "user", "From a phone")];
  stage.stored = view(asked, "r2");
  stage.running = says("Seen.", "a2", "r2");
  const seen = new Set<string>();
  session.state.subscribe(() => seen.add(JSON.stringify(texts(session))));
  await session.sync();
  expect(seen).toContain(JSON.stringify([["Hello"], ["Hi."], ["From a phone"]]));
  expect(seen).toContain(JSON.stringify([["Hello"], ["Hi."], ["From a phone"], ["Seen."]]));
});

test("a question that could not be sent stays when the chat changes elsewhere", async () => {
  const stage = new Stage([]);
  stage.failure = new Error("no connection");
  const session = stage.session();
  await session.submit({ text: "Hello?" });
  stage.stored = view([message("u9", "user", "From a phone")]);
  await session.sync();
  expect(texts(session)).toEqual([["Hello?"]]);
});

test("a question that follows another tab's shows what came between", async () => {
  const stage = new Stage([says("Hi."), says("Later.", "a3", "r3")]);
  const session = stage.session();
  await session.submit({ text: "Hello" });
  const before = session.state.read().messages.map((one) => ({ ...one, parts: [...one.parts] }));
  const between = [message("u2", "user", "From a phone"), message("a2", "assistant", "Seen.")];
  session.state.subscribe(() => {
    const question = session.state.messages.findLast((one) => one.role === "user");
    if (question !== undefined) stage.stored = view([...before, ...between, question]);
  });
  const asked = session.submit({ text: "And now?" });
  await asked;
  expect(texts(session).slice(0, 5)).toEqual([["Hello"], ["Hi."], ["From a phone"], ["Seen."], ["And now?"]]);
});

test("older messages are put in front, and an edited question keeps its place behind them", async () => {
  const stage = new Stage([says("Two.", "a9")]);
  const below = { ...message("u2", "user", "second"), metadata: { parent_id: "a1" } };
  const path = [message("u1", "user", "first"), message("a1", "assistant", "One."), below];
  const asked: object[] = [];
  stage.view = async (_id, wanted) => {
    asked.push(wanted);
    return wanted.before === undefined ? { ...view([below]), older: 2 } : { ...view(path.slice(0, 2)), older: 0 };
  };
  const session = stage.session();
  await session.open();
  const shown = session.state.read().messages[0];
  expect([session.info().older, texts(session)]).toEqual([2, [["second"]]]);
  await session.loadOlder();
  expect(asked.at(-1)).toMatchObject({ before: "u2" });
  expect([session.info().older, texts(session)]).toEqual([0, [["first"], ["One."], ["second"]]]);
  expect(session.state.read().messages[2]).toBe(shown);
  await session.loadOlder();
  expect(asked).toHaveLength(2);
});

test("the first message that is loaded is edited below its parent, which is not loaded", async () => {
  const stage = new Stage([says("Two.", "a9")]);
  stage.stored = { ...view([{ ...message("u2", "user", "second"), metadata: { parent_id: "a1" } }]), older: 2 };
  const session = stage.session();
  await session.open();
  await session.edit("u2", { text: "changed" });
  expect(stage.sent[0]?.body).toEqual({ parent_id: "a1" });
});

test("a message far back is loaded, one of another branch is brought to the front", async () => {
  const stage = new Stage([]);
  stage.stored = view([message("u1", "user", "far back"), message("u2", "user", "second")]);
  const session = stage.session();
  await session.reach("u1");
  expect([texts(session), stage.heads]).toEqual([[["far back"], ["second"]], []]);
  await session.reach("elsewhere");
  expect(stage.heads).toEqual(["elsewhere"]);
});
