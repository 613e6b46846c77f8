"""Every question of a call has its own answer, also if the run was interrupted between the two."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dovetail.events.run_context import RunContext
from dovetail.events.run_events import AskAnswer, AskRequest
from dovetail.events.run_result import RunResult
from dovetail.runs.ask_store import AskRecord
from dovetail.runs.run import RunRecord, RunSpec
from dovetail.runs.service import Runs
from dovetail.store.database import Database
from jobs import Job
from patience import PATIENCE

SPEC = RunSpec(agent="master")
Ask = Callable[[Mapping[str, Any]], Awaitable[Any]]


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with Database(tmp_path / "runs.db") as opened:
        yield opened


def asking(questions: Sequence[str], answers: list[Any], kind: Any = "question") -> Job:
    """Return work whose one call asks the questions in turn."""

    async def work(context: RunContext) -> RunResult:
        assert context.ask is not None
        for question in questions:
            answer = await context.ask(kind, "c", {"message": question}, None)
            answers.append((question, answer.get("value")))
        return RunResult(text="done")

    return Job(work)


async def wait_for_open(runs: Runs, message: str, count: int = 1) -> list[AskRecord]:
    while True:
        found = [ask for ask in await runs.asks.store.list_open("local") if ask.payload["message"] == message]
        if len(found) == count:
            return found
        await asyncio.sleep(0)


async def answer(runs: Runs, message: str, value: Any) -> str:
    [ask] = await wait_for_open(runs, message)
    await runs.asks.answer(ask.id, {"value": value}, owner="local")
    return ask.id


async def resume(runs: Runs, job: Job) -> None:
    async def rebuild(record: RunRecord) -> Job:
        return job

    runs.rebuild = rebuild
    await runs.recover()


@pytest.mark.parametrize("kind", ["question", "approval"])
async def test_an_answer_counts_for_no_later_question_of_its_call(database: Database, kind: str) -> None:
    answers: list[Any] = []
    async with Runs(database) as runs, asyncio.timeout(PATIENCE):
        handle = await runs.start(SPEC, asking(["Delete A?", "Delete B?", "Delete A?"], answers, kind))
        ids = [
            await answer(runs, "Delete A?", "yes"),
            await answer(runs, "Delete B?", "no"),
            await answer(runs, "Delete A?", "never"),
        ]
        await handle.result()
    assert answers == [("Delete A?", "yes"), ("Delete B?", "no"), ("Delete A?", "never")]
    assert len(set(ids)) == 3


async def test_a_resumed_call_finds_its_answers_once_and_in_order(database: Database) -> None:
    before: list[Any] = []
    after: list[Any] = []
    questions = ["More?", "How many?", "More?", "More?", "More?"]
    async with Runs(database) as runs, asyncio.timeout(PATIENCE):
        run_id = (await runs.start(SPEC, asking(questions, before))).run_id
        for message, value in (("More?", 1), ("How many?", 2), ("More?", 3)):
            await answer(runs, message, value)
        [waiting] = await wait_for_open(runs, "More?")
    async with Runs(database) as runs, asyncio.timeout(PATIENCE):
        await runs.asks.store.close(waiting.id, "answered", {"value": 4})  # while no process was there
        await resume(runs, asking(questions, after))
        await answer(runs, "More?", 5)
        await runs.result(run_id)
        events = [entry.event for entry in await runs.history(run_id)]
    assert before == [("More?", 1), ("How many?", 2), ("More?", 3)]
    assert after == [*before, ("More?", 4), ("More?", 5)]
    asked = [event.ask_id for event in events if isinstance(event, AskRequest)]
    assert asked == [event.ask_id for event in events if isinstance(event, AskAnswer)]
    assert len(set(asked)) == len(asked) == 5


async def test_a_resumed_call_that_asks_something_else_finds_no_answer_and_ends_its_question(
    database: Database,
) -> None:
    after: list[Any] = []
    async with Runs(database) as runs, asyncio.timeout(PATIENCE):
        run_id = (await runs.start(SPEC, asking(["Delete A?", "Delete B?"], []))).run_id
        await answer(runs, "Delete A?", "yes")
        [lost] = await wait_for_open(runs, "Delete B?")
    async with Runs(database) as runs, asyncio.timeout(PATIENCE):
        await resume(runs, asking(["Delete C?", "Delete B?", "Delete A?"], after))
        await wait_for_open(runs, "Delete C?")
        assert len(await runs.asks.store.list_open("local")) == 1
        await answer(runs, "Delete C?", "no")
        assert await answer(runs, "Delete B?", "never") != lost.id
        await runs.result(run_id)
    assert after == [("Delete C?", "no"), ("Delete B?", "never"), ("Delete A?", "yes")]


async def test_equal_questions_at_the_same_time_have_an_answer_each_also_after_a_restart(
    database: Database,
) -> None:
    async def work(context: RunContext) -> RunResult:
        assert context.ask is not None
        both = [context.ask("question", "c", {"message": "Ready?"}, None) for _ in range(2)]
        return RunResult(data=sorted(each["value"] for each in await asyncio.gather(*both)))

    async with Runs(database) as runs, asyncio.timeout(PATIENCE):
        run_id = (await runs.start(SPEC, Job(work))).run_id
        asks = await wait_for_open(runs, "Ready?", 2)
    async with Runs(database) as runs, asyncio.timeout(PATIENCE):
        await resume(runs, Job(work))
        for number, ask in enumerate(asks):
            await runs.asks.answer(ask.id, {"value": number}, owner="local")
        assert (await runs.result(run_id)).value == [0, 1]


async def test_a_question_whose_wait_was_given_up_continues_when_it_is_asked_again(
    database: Database,
) -> None:
    given_up = asyncio.Event()

    async def work(context: RunContext) -> RunResult:
        assert context.ask is not None
        first = asyncio.ensure_future(context.ask("question", "c", {"message": "Ready?"}, None))
        await given_up.wait()
        first.cancel()
        await asyncio.wait({first})
        return RunResult(data=await context.ask("question", "c", {"message": "Ready?"}, None))

    async with Runs(database) as runs, asyncio.timeout(PATIENCE):
        handle = await runs.start(SPEC, Job(work))
        [ask] = await wait_for_open(runs, "Ready?")
        given_up.set()
        await runs.asks.answer(ask.id, {"value": "yes"}, owner="local")
        assert (await handle.result()).value == {"value": "yes"}


async def test_a_call_of_a_child_does_not_find_what_its_parent_asked_under_the_same_id(
    database: Database,
) -> None:
    async def work(context: RunContext) -> RunResult:
        assert context.ask is not None
        return RunResult(data=await context.ask("question", "c", {"message": "Ready?"}, None))

    async with Runs(database) as runs, asyncio.timeout(PATIENCE):
        run_id = (await runs.start(SPEC, Job(work))).run_id
        [ask] = await wait_for_open(runs, "Ready?")
        await runs.asks.store.create(replace(ask, id="other", path=("r", "child")))
        await runs.asks.store.close("other", "answered", {"value": "of the child"})
    async with Runs(database) as runs, asyncio.timeout(PATIENCE):
        await resume(runs, Job(work))
        await answer(runs, "Ready?", "of the parent")
        assert (await runs.result(run_id)).value == {"value": "of the parent"}
