"""Sync calls from anywhere, also from code that runs on the background loop itself; retries."""

import json
import sys
import threading
from collections.abc import AsyncGenerator
from itertools import islice

import pytest

from dovetail import Agent
from dovetail.concurrency import (
    Stopwatch,
    _warn_of_block,  # pyright: ignore[reportPrivateUsage]
    backoff,
    iterate_sync,
    retrying,
    run_sync,
)
from dovetail.testing import ScriptedRequester

PLAN = json.dumps(
    {"use_tool": True, "tool_command": {"purpose": "ask", "tool_name": "ask", "tool_kwargs": {}}}
)


def make_chain(kinds: str) -> Agent:
    """An agent whose tool waits for another agent, whose tool … ; `a` is a coroutine function, `f` is not."""
    agent = Agent(requester=ScriptedRequester(["leaf"]))
    for kind in kinds:
        agent = make_asking(agent, kind)
    return agent


def make_asking(inner: Agent, kind: str) -> Agent:
    agent = Agent(requester=ScriptedRequester([PLAN, "top"]))

    def ask() -> str:
        """Ask the next agent."""
        return inner.input("go").start()

    async def ask_on_the_loop() -> str:
        """Ask the next agent."""
        return inner.input("go").start()

    ask_on_the_loop.__name__ = "ask"
    agent.tool_func(ask if kind == "f" else ask_on_the_loop)
    return agent


@pytest.mark.parametrize("kinds", ["aa", "aaaa", "fa", "afa", "fafafa"])
def test_agents_whose_tools_wait_for_agents_come_to_an_end(kinds: str) -> None:
    agent = make_chain(kinds)
    response = agent.input("go").get_response()
    assert response.get_text() == "top"
    result = response.get_result().extra["tool_logs"][0]["result"]
    assert result == ("leaf" if len(kinds) == 1 else "top")


def test_iterations_inside_of_iterations_come_to_an_end() -> None:
    async def count_down(number: int) -> AsyncGenerator[int, None]:
        yield number
        for below in iterate_sync(count_down(number - 1)) if number else ():
            yield below

    assert list(iterate_sync(count_down(5))) == [5, 4, 3, 2, 1, 0]


def test_nested_calls_find_the_loops_of_earlier_ones() -> None:
    async def nest(depth: int) -> int:
        return run_sync(nest(depth - 1)) if depth else threading.get_ident()

    assert run_sync(nest(3)) == run_sync(nest(3))
    assert run_sync(nest(0)) == run_sync(nest(0))


def test_stopwatch_does_not_count_nested_pauses() -> None:
    now = 100.0
    stopwatch = Stopwatch(lambda: now, elapsed=5.0)
    now = 110.0
    stopwatch.pause()
    stopwatch.pause()
    now = 120.0
    stopwatch.resume()
    now = 130.0
    assert (stopwatch.elapsed(), stopwatch.is_paused) == (15.0, True)
    stopwatch.resume()
    now = 131.0
    assert (stopwatch.elapsed(), stopwatch.is_paused) == (16.0, False)


async def test_attempts_are_counted_and_end_with_the_delays() -> None:
    assert [attempt async for attempt in retrying([0, 0])] == [1, 2, 3]


async def test_an_attempt_that_succeeds_is_the_last() -> None:
    attempts = retrying(backoff(0, 0))
    async for attempt in attempts:
        if attempt == 4:
            break
    assert await anext(attempts) == 5


def test_delays_double_up_to_the_longest() -> None:
    assert list(islice(backoff(0.5, 3), 5)) == [0.5, 1, 2, 3, 3]


async def ask_in_a_loop(agent: Agent) -> None:
    for _ in range(2):
        agent.input("Hi").start()
        agent.run("Hi")
        agent.chat().run("Hi")


def find_warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [message for message in caplog.messages if "was called in a running event loop" in message]


async def test_sync_call_in_a_running_loop_names_the_async_method_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    _warn_of_block.cache_clear()
    await ask_in_a_loop(Agent(requester=ScriptedRequester(["Hello."] * 6)))
    warned = find_warnings(caplog)
    assert [message.split("Write ")[1] for message in warned] == [
        "`await agent.input('…').async_start()`.",
        "`await agent.async_run('…')`.",
        "`await chat.async_run('…')`.",
    ]


async def test_sync_calls_of_a_notebook_have_no_warning(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    _warn_of_block.cache_clear()
    monkeypatch.setattr(sys, "ps1", "In : ", raising=False)
    await ask_in_a_loop(Agent(requester=ScriptedRequester(["Hello."] * 6)))
    assert find_warnings(caplog) == []


def test_sync_calls_of_a_sync_program_have_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    _warn_of_block.cache_clear()
    make_chain("af").input("go").start()
    assert find_warnings(caplog) == []
