"""Notices reach their subscribers, questions get one answer, sub-agents cannot forge any."""

import asyncio
import math

import pytest

from dovetail.errors import ConfigError, DovetailError
from dovetail.policy.bus import Message, MessageBus


async def ask(bus: MessageBus, call_id: str, timeout: float | None = None) -> object:  # noqa: ASYNC109
    return await bus.ask("approval", call_id, {"tool": "saw"}, timeout)


def test_message_reaches_the_subscribers_of_its_topic_and_of_all() -> None:
    bus = MessageBus()
    heard: list[tuple[str, str]] = []
    bus.subscribe("TOOL", lambda message: heard.append(("one", message.topic)))
    end = bus.subscribe("*", lambda message: heard.append(("all", message.topic)))
    bus.publish("TOOL", {"name": "saw"})
    bus.publish("other")
    end()
    bus.publish("other")
    assert heard == [("one", "TOOL"), ("all", "TOOL"), ("all", "other")]


def test_subscriber_that_fails_does_not_silence_the_others(caplog: pytest.LogCaptureFixture) -> None:
    bus = MessageBus()
    heard: list[Message] = []
    bus.subscribe("TOOL", lambda message: 1 / 0)
    bus.subscribe("TOOL", heard.append)
    bus.publish("TOOL")
    assert len(heard) == 1
    assert "a subscriber of 'TOOL' failed" in caplog.text


async def test_question_waits_for_its_own_answer() -> None:
    bus = MessageBus()
    asked: list[str] = []
    both = asyncio.Event()

    def note(message: Message) -> None:
        asked.append(message.payload["ask_id"])
        if len(asked) == 2:
            both.set()

    bus.subscribe("ask-request", note)
    first, second = asyncio.create_task(ask(bus, "1")), asyncio.create_task(ask(bus, "2"))
    await both.wait()
    assert [entry.call_id for entry in bus.asks] == ["1", "2"]
    bus.answer(asked[1], {"approved": True})
    assert await second == {"approved": True}
    assert not first.done()
    bus.answer(asked[0], {"approved": False})
    assert await first == {"approved": False}
    with pytest.raises(DovetailError, match="No open question"):
        bus.answer(asked[0], {"approved": True})


async def test_answer_may_come_from_another_thread() -> None:
    bus = MessageBus()
    ids: asyncio.Queue[str] = asyncio.Queue()
    bus.subscribe("ask-request", lambda message: ids.put_nowait(message.payload["ask_id"]))
    waiting = asyncio.create_task(ask(bus, "1"))
    ask_id = await ids.get()
    await asyncio.to_thread(bus.answer, ask_id, {"approved": True})
    assert await waiting == {"approved": True}


async def test_question_without_listeners_is_refused_at_once() -> None:
    answer = await MessageBus().ask("approval", "1", {})
    assert answer["approved"] is False


async def test_unanswered_question_times_out_and_is_closed() -> None:
    bus = MessageBus()
    bus.subscribe("ask-request", lambda message: None)
    assert await ask(bus, "1", 0.01) == {"status": "timeout"}
    assert bus.asks == []


async def test_a_time_limit_that_is_not_finite_is_refused() -> None:
    with pytest.raises(ConfigError, match="finite number of seconds or None, got nan"):
        await ask(MessageBus(), "1", math.nan)


async def test_sub_agents_bus_carries_its_path_and_cannot_forge() -> None:
    bus = MessageBus()
    heard: list[Message] = []
    bus.subscribe("*", heard.append)
    child = bus.derive("scout").derive("reader")
    child.publish("TOOL", {"path": []})
    assert heard[0].path == ("scout", "reader")
    waiting = asyncio.create_task(ask(child, "1"))
    await asyncio.sleep(0)
    [question] = child.asks
    with pytest.raises(ConfigError, match="'scout/reader' belongs to a sub-agent and cannot answer"):
        child.answer(question.ask_id, {"approved": True})
    with pytest.raises(ConfigError, match="is reserved"):
        child.publish("ask-answer", {"ask_id": question.ask_id, "value": {"approved": True}})
    assert not waiting.done()
    bus.answer(question.ask_id, {"approved": False})
    assert await waiting == {"approved": False}


def test_sub_agents_bus_hears_only_itself_and_what_is_below() -> None:
    bus = MessageBus()
    heard: list[str] = []
    scout = bus.derive("scout")
    scout.subscribe("*", lambda message: heard.append("/".join(message.path)))
    bus.publish("x")
    bus.derive("other").publish("x")
    scout.publish("x")
    scout.derive("reader").publish("x")
    assert heard == ["scout", "scout/reader"]


def test_name_of_a_derived_bus_cannot_pretend_to_be_a_path() -> None:
    with pytest.raises(ConfigError, match=r"Invalid name .* of a derived bus"):
        MessageBus().derive("main/trusted")


async def test_coroutine_function_may_answer() -> None:
    bus = MessageBus()

    async def answer(message: Message) -> None:
        await asyncio.sleep(0)
        bus.answer(message.payload["ask_id"], {"approved": True})

    bus.subscribe("ask-request", answer)
    assert await ask(bus, "c1", 5) == {"approved": True}


async def test_question_is_refused_when_every_listener_fails(caplog: pytest.LogCaptureFixture) -> None:
    bus = MessageBus()
    bus.subscribe("ask-request", lambda message: bus.answer(message.payload["ask_id"], True))  # pyright: ignore[reportArgumentType]
    answer = await ask(bus, "c1", 5)
    assert isinstance(answer, dict)
    assert (answer["approved"], bus.asks) == (False, [])
    assert "An answer must be a mapping" in caplog.text


def test_coroutine_function_without_an_event_loop_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    bus = MessageBus()

    async def hear(message: Message) -> None:
        raise AssertionError

    bus.subscribe("news", hear)
    bus.publish("news")
    assert "no event loop is running" in caplog.text
