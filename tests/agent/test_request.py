"""Handlers of all four forms join in a request at their point."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from dovetail import BaseAgent
from dovetail.errors import ConfigError
from dovetail.events.delta import Usage
from dovetail.testing import Reply, ScriptedRequester


def make_agent(*replies: str) -> tuple[BaseAgent, ScriptedRequester]:
    requester = ScriptedRequester(replies)
    return BaseAgent(requester=requester), requester


async def test_request_prefixes_of_every_form_may_change_the_prompt() -> None:
    agent, requester = make_agent("ok")

    def plain(prompt: Any, settings: Any) -> None:
        prompt.set("info.plain", 1)

    async def coroutine(prompt: Any, settings: Any) -> None:
        prompt.set("info.coroutine", 2)

    def generator(prompt: Any, settings: Any) -> Iterator[None]:
        prompt.set("info.generator", 3)
        yield

    async def async_generator(prompt: Any, settings: Any) -> AsyncIterator[None]:
        prompt.set("info.async_generator", 4)
        yield

    for handler in (plain, coroutine, generator, async_generator):
        agent.extension_handlers.append("request_prefixes", handler)
    await agent.input("x").async_start()
    text = str(requester.requests[0].messages)
    for line in ("plain : 1", "coroutine : 2", "generator : 3", "async_generator : 4"):
        assert line in text
    assert agent.agent_prompt.get() == {}


async def test_broadcast_handlers_add_events_around_the_answer_and_data_to_the_result() -> None:
    agent, _ = make_agent("ok")

    def before(result: dict[str, Any], settings: Any) -> Iterator[tuple[str, Any]]:
        result["extra"]["seen"] = True
        yield "early", 1
        yield "early", 2

    async def after(result: dict[str, Any], settings: Any) -> tuple[str, Any]:
        return "late", 3

    agent.extension_handlers.append("broadcast_prefixes", before)
    agent.extension_handlers.append("broadcast_suffixes", after)
    response = agent.input("x").get_response()
    wanted = ["early", "delta", "done", "late", "meta"]
    pairs = [pair async for pair in response.async_get_generator("specific", specific=wanted)]
    assert [name for name, _ in pairs] == ["early", "early", "delta", "done", "late", "meta"]
    assert (await response.async_get_data("all"))["extra"] == {"seen": True}


async def test_finally_gets_the_result_of_every_try() -> None:
    agent, _ = make_agent('{"a": 1}', '{"a": 1, "b": 2}')
    seen: list[tuple[int, Any]] = []

    async def at_end(result: Any, settings: Any) -> None:
        seen.append((result.attempt, result.parsed))

    agent.extension_handlers.append("finally", at_end)
    await agent.input("x").output({"a": (int,), "b": (int,)}).async_start(ensure_keys=["b"])
    assert seen == [(1, {"a": 1}), (2, {"a": 1, "b": 2})]


async def test_usage_counts_the_answers_that_were_rejected() -> None:
    replies = [Reply(text=text, usage=Usage(10, 2)) for text in ("none", '{"a": 1}', '{"a": 1, "b": 2}')]
    agent = BaseAgent(requester=ScriptedRequester(replies))
    response = agent.input("x").output({"a": (int,), "b": (int,)}).get_response()
    await response.async_get_data(ensure_keys=["b"])
    usage = (await response.async_get_meta())["usage"]
    assert (usage["input_tokens"], usage["output_tokens"]) == (30, 6)


def test_error_in_a_prefix_stops_the_request_before_it_is_sent() -> None:
    agent, requester = make_agent("never")

    def fail(prompt: Any, settings: Any) -> None:
        raise ValueError("no")

    agent.extension_handlers.append("request_prefixes", fail)
    with pytest.raises(ValueError, match="no"):
        agent.input("x").start()
    assert requester.requests == []


def test_unknown_handler_names_are_refused_with_the_known_ones() -> None:
    agent, _ = make_agent()
    with pytest.raises(
        ConfigError, match=r"'prefixes'\. Expected one of: request_prefixes, broadcast_prefixes"
    ):
        agent.extension_handlers.append("prefixes", print)  # pyright: ignore[reportArgumentType]


def test_removed_handler_does_not_run() -> None:
    agent, _ = make_agent("ok")

    def fail(prompt: Any, settings: Any) -> None:
        raise ValueError("no")

    agent.extension_handlers.append("request_prefixes", fail)
    agent.extension_handlers.remove("request_prefixes", fail)
    assert agent.input("x").start() == "ok"
