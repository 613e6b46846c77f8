"""A process whose event loop stands still loses its runs, and notices before it does anything for them."""

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from dovetail.errors import ConflictError
from dovetail.events.model_events import TextDeltaEvent
from dovetail.events.run_context import RunContext
from dovetail.events.run_events import AskKind, RunEnd
from dovetail.events.run_result import RunResult
from dovetail.runs.run import RunRecord, RunSpec
from dovetail.runs.service import Runs
from dovetail.settings.sections import RunSettings
from dovetail.store.database import Database
from jobs import Job
from patience import PATIENCE
from postgres import make_database, uses_postgres

SPEC = RunSpec(agent="master")
SETTINGS = RunSettings(takeover=1.0)
Work = Callable[[RunContext], Awaitable[RunResult]]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=uses_postgres)])
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'x.db'}" if request.param == "sqlite" else await make_database()


class Frozen:
    """A process of its own event loop, in a thread, that stands still in the middle of its run."""

    def __init__(self, url: str, after: Work) -> None:
        self.run_id = ""
        self.process_id = ""
        self.stands_still = threading.Event()
        self.wakes = threading.Event()
        self.serves_again = False
        self.failures: list[BaseException] = []
        self._url = url
        self._after = after

    def live(self) -> None:
        """Start the run, and end when another process has it."""
        try:
            asyncio.run(self._live())
        except BaseException as error:
            self.failures.append(error)

    async def _live(self) -> None:
        async with Database(self._url) as database, Runs(database, SETTINGS) as runs:
            self.process_id = runs.process_id
            handle = await runs.start(SPEC, Job(self._work), run_id="r")
            result = await handle.result()
            assert result.value == "done elsewhere"
            again = await runs.start(SPEC, Job(_answer))
            self.serves_again = (await again.result()).reason == "goal"

    async def _work(self, context: RunContext) -> RunResult:
        await context.flush()
        self.stands_still.set()
        self.wakes.wait(PATIENCE)
        try:
            return await self._after(context)
        except BaseException as error:
            self.failures.append(error)
            raise


async def _answer(context: RunContext) -> RunResult:
    context.emit(TextDeltaEvent("t", "done elsewhere"))
    return RunResult(text="done elsewhere")


@asynccontextmanager
async def freezing(url: str, after: Work) -> AsyncGenerator[Frozen]:
    frozen = Frozen(url, after)
    thread = threading.Thread(target=frozen.live)
    thread.start()
    try:
        yield frozen
    finally:
        frozen.wakes.set()
        await asyncio.to_thread(thread.join, PATIENCE)


async def take_over(runs: Runs, frozen: Frozen, done: asyncio.Event) -> None:
    """Wait until the run of the process that stands still is taken over here."""
    await asyncio.to_thread(frozen.stands_still.wait, PATIENCE)
    taken = asyncio.Event()

    async def work(context: RunContext) -> RunResult:
        taken.set()
        await done.wait()
        return await _answer(context)

    async def rebuild(record: RunRecord) -> Job:
        assert record.process_id == frozen.process_id
        return Job(work)

    runs.rebuild = rebuild
    await runs.recover()
    async with asyncio.timeout(PATIENCE):
        await taken.wait()
    assert (await runs.get("r")).process_id == runs.process_id


@pytest.fixture
async def other(url: str) -> AsyncIterator[Runs]:
    async with Database(url) as database, Runs(database, SETTINGS) as runs:
        yield runs


async def test_a_woken_process_learns_before_an_effect_that_its_run_is_elsewhere(
    url: str, other: Runs
) -> None:
    effects: list[str] = []

    async def act(context: RunContext) -> RunResult:
        await context.confirm()
        effects.append("twice")
        return RunResult(text="here")

    async with freezing(url, act) as frozen:
        done = asyncio.Event()
        await take_over(other, frozen, done)
        frozen.wakes.set()
        done.set()
    [failure] = frozen.failures
    assert isinstance(failure, ConflictError | asyncio.CancelledError)
    assert effects == []
    assert frozen.serves_again


async def test_the_database_refuses_what_a_woken_process_writes(url: str, other: Runs) -> None:
    async def write(context: RunContext) -> RunResult:
        context.emit(TextDeltaEvent("t", "too late"))
        await context.flush()
        return RunResult(text="here")

    async with freezing(url, write) as frozen:
        done = asyncio.Event()
        await take_over(other, frozen, done)
        frozen.wakes.set()
        done.set()
    [failure] = frozen.failures
    assert isinstance(failure, ConflictError | asyncio.CancelledError)
    events = [entry.event for entry in await other.history("r")]
    assert [event.delta for event in events if isinstance(event, TextDeltaEvent)] == ["done elsewhere"]
    assert [type(event) for event in events].count(RunEnd) == 1
    assert frozen.serves_again


async def test_a_woken_process_stores_no_question_for_a_run_it_has_lost(url: str, other: Runs) -> None:
    async def ask(context: RunContext) -> RunResult:
        assert context.ask is not None
        kind: AskKind = "approval"
        return RunResult(data=await context.ask(kind, "c", {}, None))

    async with freezing(url, ask) as frozen:
        done = asyncio.Event()
        await take_over(other, frozen, done)
        frozen.wakes.set()
        done.set()
    assert await other.asks.store.list_open("local") == []


async def test_a_loop_that_is_only_busy_keeps_its_runs(url: str) -> None:
    """The other process looks again and again while the loop of the first one turns slowly."""
    watched = asyncio.Event()

    async def work(context: RunContext) -> RunResult:
        await watched.wait()
        await context.confirm()
        return RunResult(text="kept")

    async def rebuild(record: RunRecord) -> Job:
        raise AssertionError("its process is alive")

    async with (
        Database(url) as one,
        Database(url) as two,
        Runs(one, SETTINGS) as busy,
        Runs(two, SETTINGS, recovery_interval=0.02) as watching,
    ):
        watching.rebuild = rebuild
        await watching.recover()
        handle = await busy.start(SPEC, Job(work))
        lives = {busy.link.life}
        for _ in range(5):
            await asyncio.to_thread(threading.Event().wait, 0.3)
            lives.add(busy.link.life)
        watched.set()
        assert (await handle.result()).text == "kept"
        assert lives == {1}
