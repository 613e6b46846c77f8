"""An event that the database cannot hold fails its own run, cleanly, and holds up no other."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from dovetail.events.model_events import TextDeltaEvent, ToolInputDeltaEvent, ToolInputEnd, ToolInputStart
from dovetail.events.run_context import RunContext
from dovetail.events.run_events import Event, RunEnd, ToolEnd, ToolProgress
from dovetail.events.run_result import RunResult
from dovetail.runs.journal import Block
from dovetail.runs.run import RunRecord, RunSpec
from dovetail.runs.service import Runs
from dovetail.runs.writer import lighten
from dovetail.store.database import Database
from jobs import Job
from patience import PATIENCE
from postgres import make_database, uses_postgres

SPEC = RunSpec(agent="master")
ERROR = {"type": "invalid_data_error", "message": "no"}


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=uses_postgres)])
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> str | Path:
    return tmp_path / "x.db" if request.param == "sqlite" else await make_database()


@pytest.fixture
async def engine(url: str | Path) -> AsyncIterator[Runs]:
    async with Database(url) as database, Runs(database) as engine:
        yield engine


def call(call_id: str, result: Any) -> list[Event]:
    return [ToolInputStart(call_id, "saw"), ToolInputEnd(call_id, "saw", {}), ToolEnd(call_id, "ok", result)]


BAD: dict[str, list[Event]] = {
    "an id with half a character": call("call\ud83d", "done"),
    "a result that is no JSON": call("call", object()),
    "a result without an end": call("call", [[]]),
    "arguments that are no JSON": [ToolInputEnd("call", "saw", object()), ToolEnd("call", "ok", 1)],
    "progress that is no JSON": [
        ToolInputEnd("call", "saw", {}),
        ToolProgress("call", object()),
        ToolEnd("call", "ok", 1),
    ],
}
nested: list[Any] = []
for _ in range(5000):
    nested = [nested]
BAD["a result without an end"] = call("call", nested)


@pytest.mark.parametrize("events", BAD.values(), ids=BAD)
async def test_a_bad_event_fails_its_run_and_no_other(engine: Runs, events: list[Event]) -> None:
    async def spoil(context: RunContext) -> RunResult:
        for event in events:
            context.emit(event)
        await context.flush()
        await asyncio.Event().wait()  # the run cannot continue: it is ended from outside
        return RunResult()

    async def write(context: RunContext) -> RunResult:
        for number in range(20):
            context.emit(TextDeltaEvent("t", str(number)))
            await context.flush()
        return RunResult(text="well")

    async with asyncio.timeout(PATIENCE):
        bad = await engine.start(SPEC, Job(spoil))
        good = [await engine.start(SPEC, Job(write)) for _ in range(5)]
        assert [(await handle.result()).value for handle in good] == ["well"] * 5
        outcome = await bad.result()
    assert outcome.reason == "error"
    assert (outcome.error or {})["type"] == "invalid_data_error"
    stored = [entry.event for entry in await engine.history(bad.run_id)]
    ends = [event for event in stored if isinstance(event, ToolEnd)]
    assert len(ends) == 1
    assert isinstance(stored[-1], RunEnd)
    assert (stored[-1].reason, (await engine.get(bad.run_id)).state) == ("error", "ended")


async def test_a_result_of_a_run_that_cannot_be_stored_ends_it_with_an_error(engine: Runs) -> None:
    async def spoil(context: RunContext) -> RunResult:
        context.emit(TextDeltaEvent("t", "all I have to say"))
        return RunResult(data=object())

    async with asyncio.timeout(PATIENCE):
        handle = await engine.start(SPEC, Job(spoil))
        assert (await handle.result()).reason == "error"
    stored = [entry.event for entry in await engine.history(handle.run_id)]
    assert TextDeltaEvent("t", "all I have to say") in stored
    assert isinstance(stored[-1], RunEnd)
    assert stored[-1].reason == "error"


async def test_after_a_restart_nothing_of_a_bad_run_is_left_to_take_up(url: str | Path) -> None:
    async def spoil(context: RunContext) -> RunResult:
        context.emit(ToolEnd("call", "ok", object()))
        await asyncio.Event().wait()
        return RunResult()

    async def rebuild(record: RunRecord) -> Job | None:
        raise AssertionError(f"{record.id} was left behind")

    async with asyncio.timeout(PATIENCE):
        async with Database(url) as database, Runs(database) as engine:
            await (await engine.start(SPEC, Job(spoil))).result()
        async with Database(url) as database, Runs(database) as engine:
            engine.rebuild = rebuild
            await engine.recover()


def test_a_block_of_deltas_keeps_its_numbers_without_its_text() -> None:
    block = Block(3, ("r",), 0.0, ToolInputDeltaEvent("c\0", "abc"), ["abc", "def"])
    lighten(block, ERROR)
    assert (block.first, block.last, block.event) == (3, 4, ToolInputDeltaEvent("c\ufffd", ""))
