"""A run that only waits for answers leaves memory, and continues when one comes."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from dovetail.events.delta import Usage
from dovetail.events.model_events import ToolInputEnd
from dovetail.events.run_context import RunContext
from dovetail.events.run_events import (
    AskAnswer,
    AskRequest,
    Entry,
    Event,
    RunEnd,
    RunStart,
    ToolEnd,
    ToolHold,
    ToolStart,
    TurnEnd,
)
from dovetail.events.run_result import RunResult
from dovetail.runs.parking import only_waits
from dovetail.runs.run import RunRecord, RunSpec
from dovetail.runs.service import Runs
from dovetail.settings.sections import RunSettings
from dovetail.store.database import Database
from jobs import Job
from patience import PATIENCE
from postgres import make_database, uses_postgres

START = RunStart("master", "")
CALL = ToolInputEnd("c", "write", {})
OTHER = ToolInputEnd("d", "write", {})
BEGUN = ToolStart("c", "write", "Write", may_repeat=True)
ONCE = ToolStart("c", "write", "Write")
ASK = AskRequest("ask", "approval", "c", {})
AT_ONCE = RunSettings(park_after=0.000001)  # sooner than a woken run has read the answer to its question


def entries(*events: Event, child: tuple[Event, ...] = ()) -> list[Entry]:
    own = [Entry(0, "r", ("r",), 0.0, event) for event in events]
    return own + [Entry(0, "r", ("r", "child"), 0.0, event) for event in child]


@pytest.mark.parametrize(
    ("history", "waits"),
    [
        (entries(START), False),
        (entries(START, CALL), False),
        (entries(START, CALL, ASK), True),
        (entries(START, CALL, OTHER, ToolHold(("c",)), ASK), True),
        (entries(START, CALL, OTHER, ToolStart("d", "write", "Write"), ASK), False),
        (entries(START, CALL, BEGUN, ASK), True),
        (entries(START, CALL, ONCE, ASK), False),
        (entries(START, CALL, ONCE, child=(RunStart("a", "", 0, None, "c"), CALL, ASK)), False),
        (entries(START, CALL, ASK, AskAnswer("ask", {})), False),
        (entries(START, CALL, ASK, AskAnswer("ask", {}), BEGUN, ToolEnd("c", "ok", 1)), False),
        (entries(START, CALL, BEGUN, child=(RunStart("a", "", 0, None, "c"),)), False),
        (entries(START, CALL, BEGUN, child=(RunStart("a", "", 0, None, "c"), CALL, ASK)), True),
        (entries(START, CALL, BEGUN, child=(RunStart("a", "", 0, None, "c"), RunEnd("goal"))), False),
        (
            entries(START, CALL, OTHER, ASK, child=(RunStart("a", "", 0, None, "d"),)),
            False,
        ),
    ],
)
def test_a_run_only_waits_if_nothing_below_it_works(history: list[Entry], waits: bool) -> None:
    assert only_waits(history) is waits


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=uses_postgres)])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    url = tmp_path / "runs.db" if request.param == "sqlite" else await make_database()
    async with Database(url) as opened:
        yield opened


async def work(context: RunContext) -> RunResult:
    if not any(isinstance(entry.event, ToolInputEnd) for entry in await context.history()):
        context.emit(CALL)
    assert context.ask is not None
    return RunResult(data=await context.ask("approval", "c", {}, None))


async def rebuild(record: RunRecord) -> Job:
    return Job(work)


async def start_and_park(runs: Runs) -> str:
    runs.rebuild = rebuild
    run_id = (await runs.start(RunSpec(agent="master"), Job(work))).run_id
    assert await runs.attempt(run_id) == "waiting"
    assert (await runs.store.get(run_id)).phase == "waiting"  # stored before the engine knows it
    return run_id


async def test_a_parked_run_holds_no_task_and_continues_with_its_answer(database: Database) -> None:
    async with Runs(database, AT_ONCE) as runs, asyncio.timeout(PATIENCE):
        run_id = await start_and_park(runs)
        assert runs.running == 0
        (ask,) = await runs.asks.store.list_open("local")
        await runs.asks.answer(ask.id, {"approved": True}, owner="local")
        assert (await runs.result(run_id)).value == {"approved": True}
        history = await runs.history(run_id)
    assert [entry.event.type for entry in history] == [
        "run-start", "tool-input-end", "ask-request", "ask-answer", "tool-end", "run-end",
    ]  # fmt: skip
    assert [entry.number for entry in history] == [1, 2, 3, 4, 5, 6]


async def test_readers_of_a_run_stay_while_it_is_parked_and_taken_up(database: Database) -> None:
    async def spend_and_work(context: RunContext) -> RunResult:
        context.emit(TurnEnd(1, Usage(5, 2), "tool-calls"))
        return await work(context)

    async with Runs(database, AT_ONCE) as runs, asyncio.timeout(PATIENCE):
        runs.rebuild = rebuild
        run_id = (await runs.start(RunSpec(agent="master"), Job(spend_and_work))).run_id
        async with await runs.read(run_id) as reader:
            seen: list[Entry] = []
            assert await runs.attempt(run_id) == "waiting"
            while len(seen) < 4:
                seen += await reader.next()
            (ask,) = await runs.asks.store.list_open("local")
            await runs.asks.answer(ask.id, {"approved": True}, owner="local")
            while not reader.ended:
                seen += await reader.next()
    assert [entry.number for entry in seen] == [1, 2, 3, 4, 5, 6, 7]
    assert isinstance(seen[-1].event, RunEnd)
    assert seen[-1].event.usage == Usage(5, 2)


async def test_a_parked_run_outlives_its_process(database: Database) -> None:
    async with Runs(database, AT_ONCE) as runs, asyncio.timeout(PATIENCE):
        run_id = await start_and_park(runs)
    async with Runs(database, AT_ONCE) as runs, asyncio.timeout(PATIENCE):
        runs.rebuild = rebuild
        await runs.recover()
        assert (runs.running, (await runs.store.get(run_id)).phase) == (0, "waiting")
        (ask,) = await runs.asks.store.list_open("local")
        await runs.asks.answer(ask.id, {"approved": True}, owner="local")
        assert (await runs.result(run_id)).value == {"approved": True}


async def test_an_answer_whose_process_died_before_it_woke_the_run_is_found(database: Database) -> None:
    async with Runs(database, AT_ONCE) as runs, asyncio.timeout(PATIENCE):
        run_id = await start_and_park(runs)
        (ask,) = await runs.asks.store.list_open("local")
        assert await runs.asks.store.close(ask.id, "answered", {"approved": False})
    async with Runs(database, AT_ONCE) as runs, asyncio.timeout(PATIENCE):
        runs.rebuild = rebuild
        await runs.recover()
        assert (await runs.result(run_id)).value == {"approved": False}


async def test_a_parked_run_can_be_cancelled(database: Database) -> None:
    async def stop(record: RunRecord) -> Job:
        async def end(context: RunContext) -> RunResult:
            await context.cancel.now.wait()
            return RunResult(reason="cancelled")

        return Job(end)

    async with Runs(database, AT_ONCE) as runs, asyncio.timeout(PATIENCE):
        run_id = await start_and_park(runs)
        runs.rebuild = stop
        await runs.cancel(run_id)
        assert (await runs.result(run_id)).reason == "cancelled"
        assert await runs.asks.store.list_open("local") == []


async def test_a_run_with_a_limited_question_is_not_parked(database: Database) -> None:
    async def ask_for_a_minute(context: RunContext) -> RunResult:
        context.emit(CALL)
        assert context.ask is not None
        return RunResult(data=await context.ask("approval", "c", {}, 60))

    async with Runs(database, AT_ONCE) as runs, asyncio.timeout(PATIENCE):
        handle = await runs.start(RunSpec(agent="master"), Job(ask_for_a_minute))
        later = await runs.start(RunSpec(agent="master"), Job(work))
        assert await runs.attempt(later.run_id) == "waiting"  # it had as much time
        assert runs.is_here(handle.run_id)
