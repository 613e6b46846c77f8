"""What the store of runs itself refuses, whoever writes to it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from dovetail.errors import ConflictError
from dovetail.events.run_events import Event, RunEnd, ToolEnd
from dovetail.runs.journal import Journal
from dovetail.runs.run import RunSpec
from dovetail.runs.store import RunStore
from dovetail.runs.writer import Batch
from dovetail.sessions.store import SessionStore
from dovetail.store.database import Database
from postgres import make_database

kinds = pytest.mark.parametrize(
    "database",
    ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)],
    indirect=True,
)


@pytest.fixture
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    url = tmp_path / "x.db" if request.param == "sqlite" else await make_database()
    async with Database(url) as database:
        yield database


def batch(*events: Event, after: int = 0, path: tuple[str, ...] = ("r",)) -> Batch:
    """Events that were written past the journal's own check, as a fault in it would."""
    journal = Journal("r", dropped=after)
    for event in events:
        journal.append(event, path)
    return Batch(journal, journal.take_unsaved())


@kinds
async def test_a_call_has_one_result_whoever_writes_it(database: Database) -> None:
    store = RunStore(database, "here")
    await store.create("r", RunSpec(agent="master"))
    assert await store.append([batch(ToolEnd("c", "ok", "1"))]) == []
    with pytest.raises(ConflictError):
        await store.append([batch(ToolEnd("c", "ok", "2"), after=1)])
    assert [block.last for block in await store.load("r")] == [1]
    in_child = batch(ToolEnd("c", "ok", "3"), after=1, path=("r", "child"))
    assert await store.append([in_child]) == []


@kinds
async def test_no_number_is_stored_twice(database: Database) -> None:
    store = RunStore(database, "here")
    await store.create("r", RunSpec(agent="master"))
    await store.append([batch(ToolEnd("c", "ok", "1"))])
    with pytest.raises(ConflictError):
        await store.append([batch(ToolEnd("other", "ok", "2"))])


@kinds
async def test_only_the_process_that_a_run_belongs_to_adds_to_it(database: Database) -> None:
    here, there = RunStore(database, "here"), RunStore(database, "there")
    await here.create("r", RunSpec(agent="master"))
    record = await there.get("r")
    assert await there.append([batch(RunEnd("goal"))]) == ["r"]
    assert await there.take_over(record) is not None
    assert await RunStore(database, "third").take_over(record) is None
    assert await here.append([batch(RunEnd("goal"))]) == ["r"]
    assert (await here.get("r")).state == "running"


@kinds
async def test_a_session_has_one_running_run(database: Database) -> None:
    await SessionStore(database).create(session_id="s")
    store = RunStore(database, "here")
    await store.create("r", RunSpec(agent="master", session_id="s"))
    with pytest.raises(ConflictError):
        await store.create("other", RunSpec(agent="master", session_id="s"))
