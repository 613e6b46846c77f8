"""Fields are waited for one by one, while the rest of the answer still streams."""

import asyncio
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from dovetail import Agent
from dovetail.errors import KeyWaitError, ResponseError
from dovetail.testing import Gate, Reply, ScriptedRequester
from patience import PATIENCE

OUTPUT = {"title": (str,), "rows": [{"id": (int,)}], "meta": {"by": (str,)}, "free": Any}
ANSWER = '{"title": "Oak", "rows": [{"id": 1}, {"id": 2}], "meta": {"by": "Ann"}}'


def make_agent(*replies: Any, **settings: Any) -> Agent:
    agent = Agent(requester=ScriptedRequester(replies), settings=settings)
    return agent.input("x", always=True).output(OUTPUT, always=True)


async def test_key_is_given_before_the_answer_ends() -> None:
    gate = Gate()
    agent = make_agent(Reply(steps=['{"title": "Oak", ', gate, '"rows": []}']))
    async with asyncio.timeout(PATIENCE):
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
    assert sorted(seen, key=str) == [("async", "Oak"), ("sync", "Oak"), ("sync", 1), ("sync", 2)]
    assert results == [
        ("title", "Oak", "from sync"),
        ("title", "Oak", "from async"),
        ("rows[0].id", 1, "from sync"),
        ("rows[1].id", 2, "from sync"),
    ]


async def test_handler_may_wait_for_a_later_key() -> None:
    agent = make_agent(ANSWER)
    arrived = asyncio.Event()

    async def wait(value: Any) -> str:
        await arrived.wait()
        return f"{value}, then more"

    agent.when_key("title", wait).when_key("meta.by", lambda _: arrived.set())
    async with asyncio.timeout(PATIENCE):
        results = await agent.async_start_waiter()
    assert results == [("title", "Oak", "Oak, then more"), ("meta.by", "Ann", None)]


def test_handlers_of_a_sync_program_run_in_its_own_thread() -> None:
    agent = make_agent(ANSWER)

    async def double(value: Any) -> Any:
        return value * 2

    agent.when_key("title", lambda _: threading.current_thread()).on_key("rows[1].id", double)
    assert agent.start_waiter() == [("title", "Oak", threading.current_thread()), ("rows[1].id", 2, 4)]


async def test_handlers_of_two_users_of_one_agent_do_not_meet() -> None:
    agent = make_agent(ANSWER, ANSWER)

    async def use() -> list[Any]:
        seen: list[Any] = []
        agent.when_key("title", seen.append)
        await asyncio.sleep(0)
        await agent.async_start_waiter()
        return seen

    assert await asyncio.gather(use(), use()) == [["Oak"], ["Oak"]]


async def test_handlers_reach_the_tasks_that_are_started_later() -> None:
    agent = make_agent(ANSWER, ANSWER)
    seen: list[Any] = []
    agent.when_key("title", seen.append)
    await asyncio.gather(agent.async_start_waiter(), asyncio.to_thread(agent.start_waiter))
    assert seen == ["Oak", "Oak"]


def test_handlers_stay_from_cell_to_cell_of_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    agent = make_agent(ANSWER)

    async def first_cell() -> None:
        agent.when_key("title", str.upper)

    async def second_cell() -> Any:
        return await agent.async_start_waiter()

    asyncio.run(first_cell())
    assert asyncio.run(second_cell()) == [("title", "Oak", "OAK")]


async def test_handlers_go_along_with_a_method_that_is_handed_to_a_thread() -> None:
    agent = make_agent(ANSWER)
    seen: list[Any] = []
    waiter = agent.input("y").when_key("title", seen.append).start_waiter
    await asyncio.get_running_loop().run_in_executor(None, waiter)
    assert seen == ["Oak"]


def test_handlers_of_threads_do_not_meet() -> None:
    agent = make_agent(ANSWER, ANSWER)
    both = threading.Barrier(2)

    def use(_: int) -> list[Any]:
        seen: list[Any] = []
        agent.when_key("title", seen.append)
        both.wait(PATIENCE)
        agent.start_waiter()
        return seen

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(use, range(2))) == [["Oak"], ["Oak"]]


def test_raising_handler_stops_neither_the_others_nor_the_answer() -> None:
    agent = make_agent(ANSWER)
    seen: list[Any] = []

    def fail(value: Any) -> None:
        raise ValueError(f"cannot take {value}")

    agent.when_key("title", fail).when_key("meta.by", seen.append)
    with pytest.raises(ValueError, match="cannot take Oak"):
        agent.start_waiter()
    assert seen == ["Ann"]


async def test_several_raising_handlers_are_all_reported() -> None:
    agent = make_agent(ANSWER)

    async def fail(value: Any) -> None:
        raise ValueError(value)

    agent.when_key("title", fail).when_key("meta.by", fail)
    with pytest.raises(ExceptionGroup) as caught:
        await agent.async_start_waiter()
    assert [str(error) for error in caught.value.exceptions] == ["Oak", "Ann"]


def test_handlers_stay_with_the_agent() -> None:
    agent = make_agent(ANSWER, ANSWER)
    agent.when_key("title", str.upper)
    assert agent.start_waiter() == [("title", "Oak", "OAK")]
    assert agent.start_waiter() == [("title", "Oak", "OAK")]


def test_key_that_never_arrives_names_those_that_did() -> None:
    agent = make_agent('{"title": "Oak"}', '{"title": "Oak"}')
    with pytest.raises(ResponseError, match=r"'meta' was missing from the answer; received: title"):
        agent.get_key_result("meta")
    assert agent.get_key_result("meta", default=None) is None


def test_waiting_without_output_is_refused() -> None:
    agent = Agent(requester=ScriptedRequester([])).input("x")
    with pytest.raises(KeyWaitError, match=r"no keys to wait for \(a\)[\s\S]*agent\.output"):
        agent.get_key_result("a")


@pytest.mark.parametrize(("output", "format"), [(str, None), ("a poem", None), (OUTPUT, "text")])
def test_output_without_keys_is_refused(output: Any, format: str | None) -> None:
    agent = Agent(requester=ScriptedRequester([])).input("x").output(output)
    agent.set_request_prompt("output_format", format)
    with pytest.raises(NotImplementedError, match=r"no keys to wait for \(a\)"):
        agent.wait_keys(["a"])


async def test_error_is_raised_where_the_coroutine_is_awaited() -> None:
    agent = Agent(requester=ScriptedRequester([])).input("x")
    waiting = [agent.async_get_key_result("a"), agent.when_key("a", print).async_start_waiter()]
    errors = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(error) for error in errors] == [KeyWaitError, KeyWaitError]


def test_class_as_output_has_the_keys_that_are_asked_for() -> None:
    agent = Agent(requester=ScriptedRequester(['{"value": 3, "reply": "Three."}'])).input("x").output(int)
    assert agent.get_key_result("value", must_in_prompt=True) == 3


def test_key_must_be_text() -> None:
    wrong: Any = 3
    with pytest.raises(KeyWaitError, match=r"A key must be text such as 'title' or .*, got 3"):
        make_agent().wait_keys([wrong])


@pytest.mark.parametrize("key", ["titel", "rows[*].name", "meta.by.first", "rows.id"])
def test_key_outside_of_the_schema_is_refused_with_its_keys(key: str) -> None:
    agent = make_agent()
    with pytest.raises(
        KeyWaitError, match=r"Expected one of: title, rows, rows\[\*\], rows\[\*\]\.id, meta, meta\.by"
    ):
        agent.wait_keys([key], must_in_prompt=True)


def test_near_key_is_suggested() -> None:
    with pytest.raises(KeyWaitError, match="Did you mean 'title'"):
        make_agent().get_key_result("titel", must_in_prompt=True)


@pytest.mark.parametrize("key", ["title", "rows[1].id", "/meta/by", "free.anything[2]"])
def test_key_of_the_schema_may_be_waited_for(key: str) -> None:
    assert make_agent(ANSWER).get_key_result(key, must_in_prompt=True, default="-") is not None


def test_handler_must_be_a_function() -> None:
    with pytest.raises(KeyWaitError, match="handler of key 'title' must be a function, got 'print'"):
        make_agent().when_key("title", "print")  # type: ignore[arg-type]


def test_waiter_without_a_handler_is_refused() -> None:
    with pytest.raises(NotImplementedError, match=r"No key handlers are registered[\s\S]*agent\.when_key"):
        make_agent().start_waiter()


def test_refused_request_can_be_corrected_and_sent() -> None:
    requester = ScriptedRequester(['{"a": 1}'])
    agent = Agent(requester=requester).input("how many?")
    with pytest.raises(KeyWaitError) as refused:
        agent.get_key_result("a")
    assert agent.output({"a": (int,)}).get_key_result("a") == 1, refused
    assert "how many?" in requester.requests[0].messages[-1]["content"]


async def test_refused_request_of_a_task_can_be_corrected_and_sent() -> None:
    requester = ScriptedRequester(['{"a": 1}'])
    agent = Agent(requester=requester).input("how many?")
    with pytest.raises(KeyWaitError) as refused:
        await agent.async_get_key_result("a")
    assert await agent.output({"a": (int,)}).async_get_key_result("a") == 1, refused
    assert "how many?" in requester.requests[0].messages[-1]["content"]
