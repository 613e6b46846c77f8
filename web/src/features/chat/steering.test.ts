import { expect, test } from "vitest";
import type { ChatSession } from "@/features/chat/chat-session";
import { message, Stage, says, streamOf, texts, view } from "@/features/chat/chat-stage";
import type { Delivery } from "@/protocol/inbox";
import type { ChatMessage, Chunk } from "@/protocol/message";

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
  stage.view = async (id, wanted) => late.shift() ?? stored.call(stage, id, wanted);
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
  await expect.poll(() => views).toBe(7);
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
