import { expect, test } from "vitest";
import { ChatSession } from "@/features/chat/chat-session";
import type { Delivery, InboxMessage, MessageMode } from "@/protocol/inbox";
import type { ChatMessage, Chunk, MessagePart } from "@/protocol/message";
import type { SessionView } from "@/protocol/session";
import type { ChatTransport } from "@/transport/chat-transport";

type Sent = Parameters<ChatTransport["sendMessages"]>[0];

/** A minimal server: it plays chunks and records what it was sent. */
class Stage implements ChatTransport {
  readonly resumeStreamIsReplay = true;
  readonly sent: Sent[] = [];
  readonly cancelled: string[] = [];
  readonly heads: string[] = [];
  stored: SessionView | null = null;
  running: Chunk[] | null = null;
  failure: Error | null = null;
  readonly delivered: Array<{ runId: string; mode: MessageMode; text: string }> = [];
  inbox: InboxMessage[] = [];
  deliver: () => Promise<Delivery> = async () => ({ id: "m1", mode: "steer" });

  constructor(private readonly answers: Chunk[][]) {}

  async sendMessages(options: Sent): Promise<ReadableStream<Chunk>> {
    this.sent.push({ ...options, messages: structuredClone(options.messages) });
    if (this.failure !== null) throw this.failure;
    return streamOf(this.answers.shift() ?? []);
  }

  async reconnectToStream(): Promise<ReadableStream<Chunk> | null> {
    return this.running === null ? null : streamOf(this.running);
  }

  async cancel(runId: string): Promise<void> {
    this.cancelled.push(runId);
  }

  async view(): Promise<SessionView | null> {
    return this.stored;
  }

  async moveHead(_id: string, head: string): Promise<void> {
    this.heads.push(head);
  }

  async sendToRun(runId: string, parts: MessagePart[], mode: MessageMode): Promise<Delivery> {
    this.delivered.push({ runId, mode, text: parts.map((part) => (part.type === "text" ? part.text : "")).join("") });
    return this.deliver();
  }

  async listInbox(): Promise<InboxMessage[]> {
    return this.inbox;
  }

  async removeFromInbox(_id: string, messageId: string): Promise<void> {
    this.inbox = this.inbox.filter((one) => one.id !== messageId);
  }

  session(): ChatSession {
    return new ChatSession("s", { transport: this, backend: this, schedule: (publish) => publish(), pauses: [0, 0] });
  }
}

function streamOf(chunks: Chunk[]): ReadableStream<Chunk> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

function says(text: string, id = "a1", runId = "r1"): Chunk[] {
  return [
    { type: "start", messageId: id, messageMetadata: { run_id: runId } },
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: text },
    { type: "text-end", id: "t" },
    { type: "finish" },
  ];
}

function message(id: string, role: "user" | "assistant", text: string): ChatMessage {
  return { id, role, parts: [{ type: "text", text }] };
}

function view(messages: ChatMessage[], runId: string | null = null): SessionView {
  const siblings = Object.fromEntries(
    messages.map((one) => [one.id, { index: 0, total: 1, previous: null, next: null }]),
  );
  return { title: "A title", runId, messages, siblings };
}

const texts = (session: ChatSession) =>
  session.state.read().messages.map((one) => one.parts.map((part) => (part.type === "text" ? part.text : part.type)));

test("a message is sent after the last one and its answer is shown", async () => {
  const stage = new Stage([says("Hi."), says("Again.", "a2")]);
  const session = stage.session();
  session.requestBody = () => ({ model: "m" });
  await session.submit({ text: "Hello" });
  await session.submit({ text: "More" });
  expect(texts(session)).toEqual([["Hello"], ["Hi."], ["More"], ["Again."]]);
  expect(stage.sent.map((one) => one.body)).toEqual([
    { model: "m", parent_id: null },
    { model: "m", parent_id: "a1" },
  ]);
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
function heldAnswer(stage: Stage, id = "a1", runId = "r1") {
  let stream: ReadableStreamDefaultController<Chunk> | null = null;
  const [start, ...rest] = says("Under way.", id, runId);
  stage.sendMessages = async () =>
    new ReadableStream({
      start(controller) {
        stream = controller;
      },
    });
  return {
    begin: () => start !== undefined && stream?.enqueue(start),
    add: (chunk: Chunk) => stream?.enqueue(chunk),
    end: () => {
      for (const chunk of rest) stream?.enqueue(chunk);
      stream?.close();
    },
  };
}

/** A second run answers a queued question; returns how often its stream was read. */
function nextRun(stage: Stage, before: ChatMessage[], question: ChatMessage): () => number {
  let reads = 0;
  stage.reconnectToStream = async () => {
    reads++;
    return streamOf(says("Then this.", "a2", "r2"));
  };
  stage.view = async () => {
    stage.inbox = [];
    const isEnded = reads > 0;
    const answered = { ...message("a2", "assistant", "Then this."), metadata: { run_id: "r2" } };
    return view([...before, question, ...(isEnded ? [answered] : [])], isEnded ? null : "r2");
  };
  return () => reads;
}

const pendingOf = (session: ChatSession) =>
  session.info().pending.map(({ kind, parts }) => [kind, parts.map((part) => (part.type === "text" ? part.text : ""))]);

test("a message during an answer goes to its run, is pending until the run takes it, and then is a part of the answer", async () => {
  const stage = new Stage([]);
  const answer = heldAnswer(stage);
  const session = stage.session();
  const asked = session.submit({ text: "go" });
  await expect.poll(() => session.isBusy).toBe(true);
  const steered = session.submit({ text: "and sing" });
  // The server has not begun the run yet: the message waits for it, in sight.
  expect(pendingOf(session)).toEqual([["steer", ["and sing"]]]);
  expect(stage.delivered).toEqual([]);
  answer.begin();
  await steered;
  expect(stage.delivered).toEqual([{ runId: "r1", mode: "steer", text: "and sing" }]);
  expect(pendingOf(session)).toEqual([["steer", ["and sing"]]]);
  answer.add({
    type: "data-user-message",
    id: "m1",
    data: { kind: "steer", parts: [{ type: "text", text: "and sing" }] },
  });
  await expect.poll(() => pendingOf(session)).toEqual([]);
  answer.end();
  await asked;
  expect(session.state.read().messages[1]?.parts.map((part) => part.type)).toEqual(["data-user-message", "text"]);
});

test("a message that was taken before the server's reply arrives is not pending", async () => {
  const stage = new Stage([]);
  const answer = heldAnswer(stage);
  const session = stage.session();
  let reply: (delivery: Delivery) => void = () => {};
  stage.deliver = () => new Promise((resolve) => (reply = resolve));
  void session.submit({ text: "go" });
  answer.begin();
  const steered = session.submit({ text: "and sing" });
  await expect.poll(() => stage.delivered.length).toBe(1);
  answer.add({ type: "data-user-message", id: "m1", data: { kind: "steer", parts: [] } });
  await expect.poll(() => session.state.read().messages[1]?.parts.length).toBe(1);
  reply({ id: "m1", mode: "steer" });
  await steered;
  expect(pendingOf(session)).toEqual([]);
});

test("after an answer the page joins the run that answers what was queued", async () => {
  const stage = new Stage([]);
  const answer = heldAnswer(stage);
  const session = stage.session();
  stage.deliver = async () => ({ id: "m2", mode: "queue" });
  void session.submit({ text: "go" });
  answer.begin();
  await session.submit({ text: "and then" }, "queue");
  expect(stage.delivered[0]?.mode).toBe("queue");
  stage.inbox = [{ id: "m2", kind: "queue", parts: [{ type: "text", text: "and then" }] }];
  const before = [message("u1", "user", "go"), message("a1", "assistant", "Under way.")];
  const joined = nextRun(stage, before, message("u2", "user", "and then"));
  // The next run is stored a moment after the first one has ended.
  const late = [view(before), view(before)];
  const { view: stored } = stage;
  stage.view = async () => late.shift() ?? stored.call(stage);
  answer.end();
  await expect.poll(() => texts(session)).toEqual([["go"], ["Under way."], ["and then"], ["Then this."]]);
  expect([joined(), pendingOf(session)]).toEqual([1, []]);
});

test("an answer that ended before its stream could be joined is shown as it is stored", async () => {
  const stage = new Stage([]);
  const question = message("u1", "user", "go");
  const views = [view([question], "r1"), view([question, message("a1", "assistant", "Done.")])];
  stage.view = async () => views.shift() ?? null;
  const session = stage.session();
  await session.open();
  expect(texts(session)).toEqual([["go"], ["Done."]]);
});

test("a message to a run that has just ended starts the next one, which the page joins", async () => {
  const stage = new Stage([]);
  const answer = heldAnswer(stage);
  const session = stage.session();
  let reply: (delivery: Delivery) => void = () => {};
  stage.deliver = () => new Promise((resolve) => (reply = resolve));
  const asked = session.submit({ text: "go" });
  answer.begin();
  await expect.poll(() => session.runId).toBe("r1");
  const late = session.submit({ text: "too late?" });
  await expect.poll(() => stage.delivered.length).toBe(1);
  let views = 0;
  stage.view = async () => {
    views++;
    return null;
  };
  answer.end();
  await asked;
  // By then the page no longer looks for the next run: the reply alone says that there is one.
  await expect.poll(() => views).toBe(8);
  const before = [message("u1", "user", "go"), message("a1", "assistant", "Under way.")];
  const joined = nextRun(stage, before, message("u2", "user", "too late?"));
  reply({ id: "m2", mode: "queue" });
  await late;
  await expect.poll(() => texts(session)).toEqual([["go"], ["Under way."], ["too late?"], ["Then this."]]);
  expect([joined(), pendingOf(session)]).toEqual([1, []]);
});

test("a message that cannot be sent is not pending, and the sender learns of it", async () => {
  const stage = new Stage([]);
  const answer = heldAnswer(stage);
  const session = stage.session();
  stage.deliver = async () => {
    throw new Error("gone");
  };
  void session.submit({ text: "go" });
  answer.begin();
  await expect(session.submit({ text: "and sing" })).rejects.toThrow("gone");
  expect(pendingOf(session)).toEqual([]);
});

test("a message during an answer that never begins is asked as a question", async () => {
  const stage = new Stage([]);
  let refuse: (error: Error) => void = () => {};
  stage.sendMessages = () => new Promise((_, reject) => (refuse = reject));
  const session = stage.session();
  void session.submit({ text: "go" });
  await expect.poll(() => session.isBusy).toBe(true);
  const second = session.submit({ text: "and sing" });
  stage.sendMessages = async () => streamOf(says("La.", "a2", "r2"));
  refuse(new Error("gone"));
  await second;
  expect(stage.delivered).toEqual([]);
  expect(texts(session)).toEqual([["go"], ["and sing"], ["La."]]);
});

test("a pending message can be taken back", async () => {
  const stage = new Stage([]);
  const answer = heldAnswer(stage);
  const session = stage.session();
  stage.deliver = async () => {
    stage.inbox = [{ id: "m1", kind: "steer", parts: [] }];
    return { id: "m1", mode: "steer" };
  };
  void session.submit({ text: "go" });
  answer.begin();
  await session.submit({ text: "and sing" });
  await session.inbox.remove("m1");
  expect([pendingOf(session), stage.inbox]).toEqual([[], []]);
});

test("stopping before the server has begun ends the request, not an older run", async () => {
  const stage = new Stage([says("Hi.", "a1", "old")]);
  const session = stage.session();
  await session.submit({ text: "Hello" });
  heldAnswer(stage);
  void session.submit({ text: "More" });
  await expect.poll(() => session.isBusy).toBe(true);
  await session.stop();
  expect(stage.cancelled).toEqual([]);
});
