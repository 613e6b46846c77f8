"""Fields are waited for one by one, while the rest of the answer still streams."""

import asyncio
from typing import Any

import pytest

from dovetail import Agent
from dovetail.errors import ConfigError, ResponseError
from dovetail.testing import Gate, Reply, ScriptedRequester

OUTPUT = {"title": (str,), "rows": [{"id": (int,)}], "meta": {"by": (str,)}, "free": Any}
ANSWER = '{"title": "Oak", "rows": [{"id": 1}, {"id": 2}], "meta": {"by": "Ann"}}'


def make_agent(*replies: Any, **settings: Any) -> Agent:
    agent = Agent(requester=ScriptedRequester(replies), settings=settings)
    return agent.input("x", always=True).output(OUTPUT, always=True)


async def test_key_is_given_before_the_answer_ends() -> None:
    gate = Gate()
    agent = make_agent(Reply(steps=['{"title": "Oak", ', gate, '"rows": []}']))
    async with asyncio.timeout(5):
        assert await agent.async_get_key_result("title") == "Oak"
    assert not gate.opened.is_set()


def test_keys_arrive_in_order_with_their_paths() -> None:
    agent = make_agent(Reply(text=ANSWER, cut=3))
    arrived = list(agent.wait_keys(["meta.by", "rows[*].id", "title", "/rows/[0]"]))
    assert arrived == [
        ("title", "Oak"),
        ("rows[0].id", 1),
        ("rows[0]", {"id": 1}),
        ("rows[1].id", 2),
        ("meta.by", "Ann"),
    ]


async def test_slash_style_works_the_same() -> None:
    agent = make_agent(ANSWER, ANSWER, response={"streaming_parse_path_style": "slash"})
    assert [pair async for pair in agent.async_wait_keys("rows[1].id")] == [("/rows/[1]/id", 2)]
    assert await agent.async_get_key_result("/meta/by") == "Ann"


async def test_handlers_of_every_kind_get_the_values() -> None:
    agent = make_agent(ANSWER)
    seen: list[Any] = []

    async def slowly(value: Any) -> str:
        await asyncio.sleep(0)
        seen.append(("async", value))
        return "from async"

    def at_once(value: Any) -> str:
        seen.append(("sync", value))
        return "from sync"

    agent.when_key("title", at_once).when_key("title", slowly).when_key("rows[*].id", at_once)
    results = await agent.async_start_waiter()
    assert seen == [("sync", "Oak"), ("async", "Oak"), ("sync", 1), ("sync", 2)]
    assert results == ["from sync", "from async", "from sync", "from sync"]


def test_raising_handler_stops_neither_the_others_nor_the_answer() -> None:
    agent = make_agent(ANSWER)
    seen: list[Any] = []

    def fail(value: Any) -> None:
        raise ValueError(f"cannot take {value}")

    agent.when_key("title", fail).when_key("meta.by", seen.append)
    with pytest.raises(ValueError, match="cannot take Oak"):
        agent.start_waiter()
    assert seen == ["Ann"]


async def test_several_raising_handlers_are_all_told() -> None:
    agent = make_agent(ANSWER)

    async def fail(value: Any) -> None:
        raise ValueError(value)

    agent.when_key("title", fail).when_key("meta.by", fail)
    with pytest.raises(ExceptionGroup) as caught:
        await agent.async_start_waiter()
    assert [str(error) for error in caught.value.exceptions] == ["Oak", "Ann"]


def test_handlers_belong_to_one_request() -> None:
    agent = make_agent(ANSWER, ANSWER)
    agent.when_key("title", str.upper)
    assert agent.start_waiter() == ["OAK"]
    with pytest.raises(ConfigError, match="no handler"):
        agent.start_waiter()


def test_key_that_never_arrives_names_those_that_did() -> None:
    agent = make_agent('{"title": "Oak"}', '{"title": "Oak"}')
    with pytest.raises(ResponseError, match=r"'meta' did not arrive; what did: title"):
        agent.get_key_result("meta")
    assert agent.get_key_result("meta", default=None) is None


def test_waiting_without_output_is_refused() -> None:
    agent = Agent(requester=ScriptedRequester([])).input("x")
    with pytest.raises(ConfigError, match=r"no keys to wait for \(a\)[\s\S]*agent\.output"):
        agent.get_key_result("a")


@pytest.mark.parametrize("key", ["titel", "rows[*].name", "meta.by.first", "rows.id"])
def test_key_outside_of_the_schema_is_refused_with_its_keys(key: str) -> None:
    agent = make_agent()
    with pytest.raises(ConfigError, match=r"it has: title, rows, rows\[\*\], rows\[\*\]\.id, meta, meta\.by"):
        agent.wait_keys([key], must_in_prompt=True)


def test_near_key_is_suggested() -> None:
    with pytest.raises(ConfigError, match="Did you mean 'title'"):
        make_agent().get_key_result("titel", must_in_prompt=True)


@pytest.mark.parametrize("key", ["title", "rows[1].id", "/meta/by", "free.anything[2]"])
def test_key_of_the_schema_may_be_waited_for(key: str) -> None:
    assert make_agent(ANSWER).get_key_result(key, must_in_prompt=True, default="-") is not None


def test_handler_must_be_a_function() -> None:
    with pytest.raises(ConfigError, match="handler of key 'title' must be a function, got 'print'"):
        make_agent().when_key("title", "print")  # type: ignore[arg-type]


def test_waiter_without_a_handler_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"no handler to wait with[\s\S]*agent\.when_key"):
        make_agent().start_waiter()
