"""Which request is sent: the one that was written where the sending method was called, or looked up."""

import asyncio
import contextvars
import functools
import inspect
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from dovetail import Agent
from dovetail.agent.runtime import Runtime
from dovetail.errors import EmptyPromptError
from dovetail.testing import Reply, ScriptedRequester
from patience import PATIENCE

QUESTIONS = ["one", "two", "three", "four", "five"]


def make_agent(*replies: Any) -> tuple[Agent, ScriptedRequester]:
    requester = ScriptedRequester(replies or [Reply(text='{"a": "ok"}', repeat=True)])
    return Agent(requester=requester, runtime=Runtime()), requester


def asked(requester: ScriptedRequester) -> list[str]:
    return sorted(str(request.messages[-1]["content"]) for request in requester.requests)


@pytest.mark.parametrize(
    "send",
    [
        lambda request: request.async_start(),
        lambda request: request.async_get_text(),
        lambda request: request.async_get_data(),
        lambda request: request.async_get_meta(),
        lambda request: request.async_get_result(),
        lambda request: request.async_run(),
        lambda request: request.get_response().async_get_text(),
    ],
)
async def test_every_question_is_sent_once_by_gather(send: Callable[[Agent], Any]) -> None:
    agent, requester = make_agent()
    await asyncio.gather(*(send(agent.input(question)) for question in QUESTIONS))
    assert asked(requester) == sorted(QUESTIONS)


async def test_generators_and_keys_take_their_request_at_the_call() -> None:
    agent, requester = make_agent()
    agent.output({"a": (str,)}, always=True)
    texts = [agent.input(question).async_get_generator() for question in QUESTIONS]
    keys = [agent.input(question).async_get_key_result("a") for question in QUESTIONS]
    waits = [agent.input(question).async_wait_keys("a") for question in QUESTIONS]
    assert ["".join([piece async for piece in text]) for text in texts] == ['{"a": "ok"}'] * 5
    assert await asyncio.gather(*keys) == ["ok"] * 5
    assert [[pair async for pair in wait] for wait in waits] == [[("a", "ok")]] * 5
    for question in QUESTIONS:
        assert sum(f"[INPUT]:\n{question}\n" in text for text in asked(requester)) == 3


async def test_typed_requests_that_wait_keep_their_questions() -> None:
    agent, requester = make_agent(Reply(text='{"value": 7}', repeat=True))
    requests = [agent.input(question).returns(int) for question in QUESTIONS]
    more = [agent.returns(int).input(question) for question in QUESTIONS]
    assert await asyncio.gather(*(request.async_start() for request in [*requests, *more])) == [7] * 10
    for question in QUESTIONS:
        assert sum(f"[INPUT]:\n{question}\n" in text for text in asked(requester)) == 2


def test_method_that_is_handed_to_a_thread_takes_its_request_along() -> None:
    agent, requester = make_agent()
    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(agent.input(question).start) for question in QUESTIONS]
        jobs += [pool.submit(functools.partial(agent.input(f"{q}!").get_text)) for q in QUESTIONS]
        for job in jobs:
            job.result()
    assert asked(requester) == sorted([*QUESTIONS, *(f"{question}!" for question in QUESTIONS)])


async def test_method_that_is_handed_to_thread_or_task_by_asyncio_takes_its_request_along() -> None:
    agent, requester = make_agent()
    loop = asyncio.get_running_loop()
    await asyncio.gather(*(asyncio.to_thread(agent.input(question).start) for question in QUESTIONS))
    await asyncio.gather(*(loop.run_in_executor(None, agent.input(q).get_text) for q in QUESTIONS))
    async with asyncio.TaskGroup() as group:
        for send in [agent.input(question).async_start for question in QUESTIONS]:
            group.create_task(send())
    assert asked(requester) == sorted(QUESTIONS * 3)


def test_looking_at_a_method_changes_nothing() -> None:
    agent, requester = make_agent()
    agent.input("before")
    assert callable(agent.start)
    assert hasattr(agent, "async_start")
    assert str(inspect.signature(agent.get_text)) == "() -> str"
    assert agent.start.__name__ == "start"
    agent.info("after").start()
    assert "before" in asked(requester)[0]
    assert "after" in asked(requester)[0]


def test_held_method_keeps_its_request_from_later_writing() -> None:
    agent, requester = make_agent()
    first = agent.input("first").start
    second = agent.info("about second").input("second").start
    agent.input("third")
    second()
    first()
    agent.start()
    first_text, third_text = (text for text in asked(requester) if "second" not in text)
    assert (first_text, third_text) == ("first", "third")


def test_method_looked_up_before_anything_is_written_sends_what_is_written_later() -> None:
    agent, requester = make_agent()
    start = agent.start
    agent.input("a")
    start()
    agent.input("b")
    start()
    assert asked(requester) == ["a", "b"]
    with pytest.raises(EmptyPromptError):
        start()


async def test_parent_that_writes_on_keeps_its_request_from_its_children() -> None:
    agent, requester = make_agent()
    agent.input("of the parent")

    async def ask() -> None:
        await agent.input("of the child").async_start()

    child = asyncio.create_task(ask())
    await child
    await agent.info("more").async_start()
    child_text, parent_text = sorted(asked(requester), key=len)
    assert child_text == "of the child"
    assert "of the parent" in parent_text


async def test_task_or_thread_that_only_sends_sends_what_its_parent_wrote() -> None:
    agent, requester = make_agent()

    async def send() -> None:
        await agent.async_start()

    agent.input("by a task")
    await asyncio.create_task(send())
    agent.input("by a thread")
    await asyncio.to_thread(lambda: agent.start())
    assert asked(requester) == ["by a task", "by a thread"]


def test_main_thread_continues_its_request_in_any_context() -> None:
    agent, requester = make_agent()
    contextvars.copy_context().run(agent.input, "written in a context")
    agent.start()
    assert asked(requester) == ["written in a context"]


def test_what_a_pooled_thread_left_unsent_in_one_context_reaches_no_other() -> None:
    agent, _ = make_agent()
    seen: list[Any] = []

    async def serve() -> None:
        await asyncio.to_thread(agent.info, "a secret")
        await asyncio.to_thread(lambda: seen.append(agent.request_prompt.get()))

    with ThreadPoolExecutor(1) as pool:
        loop = asyncio.new_event_loop()
        loop.set_default_executor(pool)
        loop.run_until_complete(serve())
        loop.close()
    assert seen == [{}]


async def test_coroutine_that_is_never_awaited_sends_nothing_and_names_its_method() -> None:
    agent, requester = make_agent()
    forgotten = [agent.input("never").async_start()]
    with pytest.warns(RuntimeWarning, match=r"coroutine '.*\.async_start' was never awaited"):
        forgotten.clear()
    await agent.input("sent").async_start()
    assert asked(requester) == ["sent"]


async def test_what_goes_wrong_is_raised_where_the_answer_is_awaited() -> None:
    agent, _ = make_agent()
    agent.model = "nowhere:unknown"
    outcomes = await asyncio.gather(
        agent.async_start(), agent.input("x").async_start(), return_exceptions=True
    )
    assert all(isinstance(outcome, Exception) for outcome in outcomes)


async def test_cancel_of_a_view_stops_the_request() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    class Slow(ScriptedRequester):
        async def stream(self, request: Any) -> Any:
            begun.set()
            try:
                await asyncio.Event().wait()
                yield None
            finally:
                ended.set()

    agent = Agent(requester=Slow([]), runtime=Runtime())
    view = asyncio.create_task(agent.input("x").async_start())
    async with asyncio.timeout(PATIENCE):
        await begun.wait()
        view.cancel()
        with pytest.raises(asyncio.CancelledError):
            await view
        await ended.wait()


async def test_coroutine_function_by_the_model_takes_its_request_at_the_call() -> None:
    agent, requester = make_agent(Reply(text='{"value": 7}', repeat=True))

    @agent.auto_func
    async def rate(text: str) -> int:
        """Rate it."""
        raise NotImplementedError

    agent.info("first", always=True)
    ratings = [rate("a")]
    agent.set_agent_prompt("info", "second")
    ratings.append(rate("b"))
    assert await asyncio.gather(*ratings) == [7, 7]
    texts = asked(requester)
    assert ["first" in text and "text: a" in text for text in texts] == [True, False]


def test_function_by_the_model_leaves_a_half_written_request_alone() -> None:
    agent, requester = make_agent('{"value": 7}', "done")

    @agent.auto_func
    def rate(text: str) -> int:
        """Rate it."""
        raise NotImplementedError

    agent.input("the question")
    agent.info(rate("x")).start()
    helper, question = (str(request.messages[-1]["content"]) for request in requester.requests)
    assert "the question" not in helper
    assert "the question" in question
    assert "7" in question


def test_subclass_that_adds_to_the_request_when_it_starts_works_from_any_thread() -> None:
    class Polite(Agent):
        def start(self, *args: Any, **kwargs: Any) -> Any:
            self.instruct("Be polite.")
            return super().start(*args, **kwargs)

    requester = ScriptedRequester([Reply(text="ok", repeat=True)])
    agent = Polite(requester=requester, runtime=Runtime())
    threads = [threading.Thread(target=agent.input(question).start) for question in QUESTIONS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert len(requester.requests) == 5
    for text, question in zip(asked(requester), sorted(QUESTIONS), strict=True):
        assert "Be polite." in text
        assert question in text


async def test_subclass_with_a_coroutine_function_keeps_its_questions_apart() -> None:
    class Noting(Agent):
        async def async_start(self, *args: Any, **kwargs: Any) -> Any:
            await asyncio.sleep(0)
            return await super().async_start(*args, **kwargs)

    requester = ScriptedRequester([Reply(text="ok", repeat=True)])
    agent = Noting(requester=requester, runtime=Runtime())
    await asyncio.gather(*(agent.input(question).async_start() for question in QUESTIONS))
    assert asked(requester) == sorted(QUESTIONS)


def test_method_that_is_called_again_sends_its_request_again_or_what_was_written_since() -> None:
    agent, requester = make_agent()
    start = agent.input("again").start
    start()
    start()
    agent.input("since")
    start()
    assert asked(requester) == ["again", "again", "since"]


def test_agent_says_why_it_cannot_be_pickled() -> None:
    agent, _ = make_agent()
    with pytest.raises(TypeError, match="inside the worker process"):
        pickle.dumps(agent)
    with pytest.raises(TypeError, match="inside the worker process"):
        pickle.dumps(agent.input("x").start)


def test_lines_of_an_interactive_session_write_one_request() -> None:
    lines = """\
from dovetail import Agent
from dovetail.testing import Reply, ScriptedRequester
requester = ScriptedRequester([Reply(text="ok", repeat=True)])
agent = Agent(requester=requester)
agent.input("one")
agent.info("by a line without a task").start()
agent.input("two")
await agent.info("by a line that awaits").async_start()
await asyncio.sleep(0); agent.input("three")
await agent.async_start()
await asyncio.sleep(0); agent.input("four")
agent.start()
[word for word in ("one", "two", "three", "four") if word in str(requester.requests.pop(0).messages)]
"""
    source = str(Path(__file__).parents[2] / "src")
    ended = subprocess.run(
        [sys.executable, "-m", "asyncio"],
        input=lines,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": source},
        timeout=PATIENCE,
        check=False,
    )
    assert "['one', 'two', 'three', 'four']" in ended.stdout, ended.stdout + ended.stderr
