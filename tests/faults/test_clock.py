"""The wall clock is moved back and forth under a run: order, leases and answers do not depend on it."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from dovetail.errors import ConflictError
from dovetail.events.model_events import TextDeltaEvent
from dovetail.events.run_context import RunContext
from dovetail.events.run_events import AskRequest
from dovetail.events.run_result import RunResult
from dovetail.runs.run import RunRecord, RunSpec
from dovetail.runs.service import Runs
from dovetail.store.database import Database
from jobs import Job
from patience import PATIENCE

DAY = 86400.0
SPEC = RunSpec(agent="master")


class Clock:
    """A wall clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "time", clock)
    return clock


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with Database(tmp_path / "x.db") as database:
        yield database


async def wait_for_ask(engine: Runs, run_id: str, count: int = 1) -> str:
    seen: list[str] = []
    async with asyncio.timeout(PATIENCE), await engine.read(run_id) as reader:
        while len(seen) < count:
            events = [entry.event for entry in await reader.next()]
            seen += [event.ask_id for event in events if isinstance(event, AskRequest)]
    return seen[-1]


async def test_events_keep_their_order_and_a_run_left_behind_is_taken_up(
    database: Database, clock: Clock
) -> None:
    stored = asyncio.Event()

    async def first(context: RunContext) -> RunResult:
        for place, moved in enumerate((0.0, DAY, -2 * DAY)):
            clock.now += moved
            context.emit(TextDeltaEvent(f"t{place}", f"{place} "))
            await context.flush()
        stored.set()
        await asyncio.Event().wait()
        return RunResult()

    async def second(context: RunContext) -> RunResult:
        return RunResult(text="done")

    async def rebuild(record: RunRecord) -> Job:
        return Job(second)

    async with Runs(database) as engine:
        run_id = (await engine.start(SPEC, Job(first))).run_id
        await stored.wait()
    clock.now -= 30 * DAY
    async with Runs(database) as engine:
        engine.rebuild = rebuild
        await engine.recover()
        assert (await engine.result(run_id)).value == "done"
        history = await engine.history(run_id)
    numbers = [entry.number for entry in history]
    assert numbers == sorted(set(numbers))
    text = "".join(entry.event.delta for entry in history if isinstance(entry.event, TextDeltaEvent))
    assert text == "0 1 2 "


async def test_a_lease_from_before_the_clock_was_set_back_holds_no_run(
    database: Database, clock: Clock
) -> None:
    async def work(context: RunContext) -> RunResult:
        return RunResult(data=await context.ask("browser", "c", {}, 60))

    async with Runs(database) as engine:
        handle = await engine.start(SPEC, Job(work))
        ask_id = await wait_for_ask(engine, handle.run_id)
        await engine.asks.claim(ask_id, "one", owner="local")
        with pytest.raises(ConflictError):
            await engine.asks.claim(ask_id, "two", owner="local")
        clock.now -= DAY
        with pytest.raises(
            ConflictError, match="already been answered"
        ):  # what a tab has begun is not done twice
            await engine.asks.claim(ask_id, "two", owner="local")
        assert (await handle.result()).value["status"] == "failed"


async def test_an_answer_finds_the_open_question_although_an_older_one_seems_newer(
    database: Database, clock: Clock
) -> None:
    async def work(context: RunContext) -> RunResult:
        await context.ask("browser", "c", {}, 0.01)
        clock.now -= DAY
        return RunResult(data=await context.ask("browser", "c", {}, 60))

    async with Runs(database) as engine:
        handle = await engine.start(SPEC, Job(work))
        await wait_for_ask(engine, handle.run_id, count=2)
        assert await engine.asks.acknowledge("c", {"status": "success"}, owner="local") == "resolved"
        assert (await handle.result()).value == {"status": "success"}


@pytest.mark.parametrize(("moved", "status"), [(40.0, "success"), (61.0, "timeout"), (-DAY, "success")])
async def test_the_time_limit_of_a_question_counts_from_when_it_was_first_asked(
    tmp_path: Path, clock: Clock, moved: float, status: str
) -> None:
    async def work(context: RunContext) -> RunResult:
        return RunResult(data=await context.ask("browser", "c", {}, 60))

    async def rebuild(record: RunRecord) -> Job:
        return Job(work)

    async with Database(tmp_path / "y.db") as database, Runs(database) as engine:
        run_id = (await engine.start(SPEC, Job(work))).run_id
        await wait_for_ask(engine, run_id)
    clock.now += moved
    async with Database(tmp_path / "y.db") as database, Runs(database) as engine:
        engine.rebuild = rebuild
        await engine.recover()
        if status == "success":
            assert await engine.asks.acknowledge("c", {"status": "success"}, owner="local") == "resolved"
        assert (await engine.result(run_id)).value == {"status": status}
