"""`agent.run_stream`: the events of a run as an iterator, and what becomes of a run that is left early."""

import asyncio
import threading
from typing import Any

import pytest

from dovetail import Agent
from dovetail.errors import ConfigError, ModelError, SignatureError
from dovetail.events.model_events import TextDeltaEvent
from dovetail.events.run_events import ChildEvent, Event, RunEnd, RunStart, ToolEnd
from dovetail.testing import Gate, ScriptedRequester
from patience import PATIENCE

ADD = {"tool_calls": [{"name": "add", "arguments": {"a": 1, "b": 2}}]}


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def make_agent(*replies: Any, **options: Any) -> Agent:
    return Agent("counter", requester=ScriptedRequester(replies), **options)


async def test_events_come_in_order_and_the_result_follows_them() -> None:
    stream = make_agent(ADD, "Three.", tools=[add]).run_stream("1 + 2?")
    events = [event async for event in stream]
    assert events[0] == RunStart("counter", "scripted:model")
    assert [event.result["data"] for event in events if isinstance(event, ToolEnd)] == [3]
    assert isinstance(events[-1], RunEnd)
    assert (events[-1].reason, events[-1].result) == ("goal", "Three.")
    assert (stream.result.text, stream.result.turns) == ("Three.", 2)


def test_a_plain_for_reads_the_same_events() -> None:
    stream = make_agent("Hello.").run_stream("Hi.")
    pieces = [event.delta for event in stream if isinstance(event, TextDeltaEvent)]
    assert (pieces, stream.result.text) == (["Hello."], "Hello.")


async def test_leaving_the_loop_early_stops_the_run() -> None:
    gate, ended = Gate(), asyncio.Event()

    def note(event: Event, /) -> None:
        if isinstance(event, RunEnd) and event.reason == "cancelled":
            ended.set()

    stream = make_agent(["Hello ", gate, "world."]).run_stream("Hi.", on_event=note)
    async for event in stream:
        if isinstance(event, TextDeltaEvent):
            break
    await asyncio.wait_for(ended.wait(), PATIENCE)
    with pytest.raises(ConfigError, match="no result yet"):
        _ = stream.result


def test_leaving_a_plain_for_early_stops_the_run() -> None:
    ended = threading.Event()

    def note(event: Event, /) -> None:
        if isinstance(event, RunEnd) and event.reason == "cancelled":
            ended.set()

    for event in make_agent(["Hello ", Gate(), "world."]).run_stream("Hi.", on_event=note):
        if isinstance(event, TextDeltaEvent):
            break
    assert ended.wait(PATIENCE)


async def test_the_end_of_the_block_around_a_stream_stops_the_run() -> None:
    gate = Gate()
    ends: list[Event] = []
    async with make_agent(["Hello ", gate]).run_stream("Hi.", on_event=ends.append) as stream:
        events = aiter(stream)
        await anext(events)
        await gate.reached.async_wait()
    assert isinstance(ends[-1], RunEnd)
    assert ends[-1].reason == "cancelled"


async def test_error_of_the_model_is_raised_after_the_last_event() -> None:
    events: list[Event] = []

    async def read() -> None:
        async for event in make_agent({"error": "overloaded"}).run_stream("Hi."):
            events.append(event)

    with pytest.raises(ModelError, match="overloaded"):
        await read()
    assert isinstance(events[-1], RunEnd)
    assert events[-1].error == {"type": "model_error", "message": "overloaded"}


async def test_events_can_be_read_only_once() -> None:
    stream = make_agent("Hello.").run_stream("Hi.")
    assert [event async for event in stream]
    with pytest.raises(ConfigError, match="only once"):
        aiter(stream)


async def test_two_runs_of_one_agent_do_not_mix() -> None:
    agent = make_agent({"when": "door", "text": "Oak."}, {"when": "boat", "text": "Teak."})

    async def read(question: str) -> str:
        stream = agent.run_stream(question)
        return "".join([event.delta async for event in stream if isinstance(event, TextDeltaEvent)])

    assert await asyncio.gather(read("A door?"), read("A boat?")) == ["Oak.", "Teak."]


async def test_events_of_an_agent_that_is_a_tool_are_part_of_the_stream() -> None:
    helper = make_agent(ADD, "It is 3.", tools=[add], system="You count.")
    call = {"tool_calls": [{"name": "counter", "arguments": {"task": "1 + 2"}}]}
    boss = Agent("boss", requester=ScriptedRequester([call, "Three."]), tools=[helper])
    events = [event async for event in boss.run_stream("How many?")]
    inner = [event.event for event in events if isinstance(event, ChildEvent)]
    assert inner[0] == RunStart("counter", "scripted:model", parent_call_id="call_1")
    assert isinstance(inner[-1], RunEnd)
    assert inner[-1].result == "It is 3."


@pytest.mark.parametrize(
    ("reply", "reason", "data"),
    [
        ("Jupiter.", "contains no JSON object", None),
        ({"text": '{"planet": "Jup', "finish_reason": "length"}, "was cut off", {"planet": "Jup"}),
    ],
)
async def test_run_says_why_its_data_cannot_be_read(
    reply: Any, reason: str, data: Any, caplog: pytest.LogCaptureFixture
) -> None:
    agent = Agent(requester=ScriptedRequester([reply] * 4)).output({"planet": (str,)}, always=True)
    result = await agent.async_run("The largest planet?")
    assert result.data == data
    assert reason in (result.notice or "")
    assert ("max_tokens" in (result.notice or "")) == (reason == "was cut off")
    assert caplog.text.count(reason) == 1


@pytest.mark.parametrize("way", ["run", "run_stream", "chat"])
def test_listener_that_nothing_would_await_is_refused(way: str) -> None:
    async def listen(event: Event, /) -> None:
        raise AssertionError(event)

    agent = Agent(model=ScriptedRequester([]))
    run = agent.chat("ann").run if way == "chat" else getattr(agent, way)
    with pytest.raises(SignatureError, match=r"(?s)on_event must be a plain function.*run_stream"):
        run("Hello!", on_event=listen)


@pytest.mark.parametrize(
    ("option", "advice"),
    [
        ("tools", "Write `Agent(tools=[…]).run('…')`."),
        ("model", "Write `Agent(model='provider:name').run('…')`."),
        ("system", "Write `Agent(system='…').run('…')`."),
    ],
)
def test_argument_of_an_agent_is_refused_by_its_run_with_its_place(option: str, advice: str) -> None:
    options: Any = {option: "x"}
    with pytest.raises(SignatureError) as caught:
        make_agent("Hello.").run("Hi.", **options)
    assert caught.value.message == f"Unknown option {option!r} of run(). {advice}"


@pytest.mark.parametrize("way", ["run", "run_stream", "chat"])
def test_text_as_the_history_is_refused_with_the_form_of_a_message(way: str) -> None:
    agent = Agent(model=ScriptedRequester([]))
    run = agent.chat("ann").run if way == "chat" else getattr(agent, way)
    with pytest.raises(SignatureError, match=r"must be a list of .*'role'.*, got 'hi'") as caught:
        run("Hello!", history="hi")
    assert "history=result.messages" in str(caught.value)
