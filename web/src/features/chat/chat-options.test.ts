import { expect, test } from "vitest";
import { ChatSession } from "@/features/chat/chat-session";
import { message, Stage, says, streamOf, texts, view } from "@/features/chat/chat-stage";
import type { ChoiceChange } from "@/protocol/session";
import { ServerError } from "@/transport/http";

/** A new chat in a browser that remembers the last choice. */
function draft(stage: Stage, last: ChoiceChange = {}) {
  const kept: ChoiceChange[] = [];
  const defaults = { read: () => last as object, keep: (change: ChoiceChange) => void kept.push(change) };
  const session = new ChatSession("s", {
    transport: stage,
    backend: stage,
    schedule: (go) => go(),
    pauses: [],
    defaults,
  });
  return { session, kept };
}

test("a new chat sends its choice with the first message only, and later changes are stored", async () => {
  const stage = new Stage([says("Hi."), says("Again.", "a2")]);
  const { session, kept } = draft(stage, { agent: "poet", model: "m1" });
  await session.setOptions({ model: "m2", temperature: 0.5 });
  await session.submit({ text: "Hello" });
  expect(stage.sent[0]?.body).toEqual({ agent: "poet", options: { model: "m2", temperature: 0.5 } });
  expect(stage.changes).toEqual([]);
  await session.setOptions({ model: null });
  await session.submit({ text: "More" });
  expect(stage.sent[1]?.body).toEqual({});
  expect(stage.changes).toEqual([{ model: null }]);
  expect(session.options.read().model).toBeUndefined();
  expect(kept).toEqual([{ model: "m2", temperature: 0.5 }, { model: null }]);
});

test("a choice that is made while the first message is on its way is stored when it has arrived", async () => {
  const stage = new Stage([]);
  let arrive = () => {};
  stage.sendMessages = () => new Promise((resolve) => (arrive = () => resolve(streamOf(says("Hi.")))));
  const { session } = draft(stage);
  const asked = session.submit({ text: "Hello" });
  await session.setOptions({ mode: "plan" });
  expect(stage.changes).toEqual([]);
  arrive();
  await asked;
  expect(stage.changes).toEqual([{ mode: "plan" }]);
});

test("an agent that the first message names answers it, and the chat keeps its own", async () => {
  const stage = new Stage([says("Hi.")]);
  const { session, kept } = draft(stage);
  session.requestBody = () => ({ agent: "poet" });
  await session.submit({ text: "@poet Hello" });
  expect(stage.sent[0]?.body).toEqual({ agent: "poet", options: {} });
  expect([stage.changes, kept]).toEqual([[{ agent: null }], []]);
});

test("a chat shows its own choice, not the last one of the browser", async () => {
  const stage = new Stage([]);
  stage.stored = { ...view([message("u1", "user", "q")]), choice: { agent: "clerk", mode: "plan" } };
  const { session } = draft(stage, { agent: "poet", model: "m1" });
  await session.open();
  expect(session.options.read()).toEqual({ agent: "clerk", mode: "plan", model: undefined });
});

test("a choice that the server refuses is taken back, and not remembered", async () => {
  const stage = new Stage([]);
  stage.stored = { ...view([message("u1", "user", "q")]), choice: { mode: "plan" } };
  const { session, kept } = draft(stage);
  await session.open();
  stage.failure = new ServerError(422, "invalid_request", "Mode 'yolo' is not allowed.");
  await expect(session.setOptions({ mode: "yolo" })).rejects.toThrow("not allowed");
  expect([session.options.read().mode, kept]).toEqual(["plan", []]);
});

test("what is asked during the answer of another tab goes into that answer, which is shown", async () => {
  const stage = new Stage([]);
  const question = message("u1", "user", "in the other tab");
  stage.sendMessages = async () => {
    throw new ServerError(409, "conflict_error", "Session 's' is busy.");
  };
  stage.stored = view([question], "r1");
  stage.reconnectToStream = async () => {
    stage.stored = view([question, message("a1", "assistant", "Under way.")]);
    return streamOf(says("Under way.", "a1", "r1"));
  };
  const session = stage.session();
  const asking = session.submit({ text: "and here" });
  const errors: unknown[] = [];
  session.state.subscribe(() => errors.push(session.state.read().error));
  await asking;
  expect(stage.delivered).toEqual([{ runId: "r1", mode: "steer", text: "and here" }]);
  expect(texts(session)).toEqual([["in the other tab"], ["Under way."]]);
  expect(errors.filter((error) => error !== null)).toEqual([]);
});

test("what is asked just after the answer of another tab has ended is asked again", async () => {
  const stage = new Stage([]);
  let refusals = 1;
  stage.sendMessages = async (options) => {
    stage.sent.push(options);
    if (refusals-- > 0) throw new ServerError(409, "conflict_error", "Session 's' is busy.");
    return streamOf(says("Hi.", "a2", "r2"));
  };
  stage.stored = view([message("u1", "user", "in the other tab"), message("a1", "assistant", "Done.")]);
  const session = stage.session();
  await session.submit({ text: "and here" });
  expect(stage.sent).toHaveLength(2);
  expect(stage.delivered).toEqual([]);
});

test("a message is deleted with what follows it, and the chat shows what is left", async () => {
  const stage = new Stage([]);
  stage.stored = view([message("u1", "user", "q"), message("a1", "assistant", "One.")]);
  const session = stage.session();
  await session.open();
  stage.stored = view([message("u1", "user", "q")]);
  await session.remove("a1");
  expect([stage.deleted, texts(session)]).toEqual([["a1"], [["q"]]]);
});

test("the skills that the server adds to a question are shown while its answer is written", async () => {
  const stage = new Stage([]);
  const skill = { type: "data-skill", data: { name: "haiku" } } as const;
  stage.sendMessages = async (options) => {
    const asked = options.messages.at(-1);
    if (asked !== undefined) stage.stored = view([{ ...asked, parts: [skill, ...asked.parts] }], "r1");
    return new ReadableStream({
      start(stream) {
        for (const chunk of says("Hm").slice(0, 3)) stream.enqueue(chunk);
      },
    });
  };
  const session = stage.session();
  void session.submit({ text: "/skill/haiku rain" });
  await expect.poll(() => texts(session)).toEqual([["data-skill", "/skill/haiku rain"], ["Hm"]]);
});
