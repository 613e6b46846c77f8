"""What the store of runs itself refuses, whoever writes to it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from dovetail.errors import ConflictError
from dovetail.events.model_events import TextDeltaEvent, TextEnd, TextStart
from dovetail.events.run_events import Event, RunEnd, ToolEnd, ToolStart, TurnReset
from dovetail.runs.journal import Journal
from dovetail.runs.run import RunSpec
from dovetail.runs.store import RunStore
from dovetail.runs.writer import Batch
from dovetail.sessions.store import SessionStore
from dovetail.store.database import Database
from dovetail.store.tables import entries, runs
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
async def test_a_run_that_comes_back_takes_nothing_that_it_left_behind(database: Database) -> None:
    here, there = RunStore(database, "here"), RunStore(database, "there")
    await here.create("r", RunSpec(agent="master"))
    await here.append([batch(ToolStart("c", "other", "note"))])
    number = await there.take_over(await there.get("r"))
    assert number is not None
    assert await there.append([batch(ToolEnd("c", "ok", "1"), after=number)]) == []
    assert await here.take_over(await here.get("r")) is not None
    assert await here.append([batch(ToolStart("late", "other", "note"), after=1)]) == ["r"]
    assert [block.event.type for block in await here.load("r")] == ["tool-start", "tool-end"]


@kinds
async def test_an_end_whose_reply_was_lost_is_stored_once(database: Database) -> None:
    store = RunStore(database, "here")
    await store.create("r", RunSpec(agent="master"))
    for _ in range(2):
        assert await store.append([batch(RunEnd("goal"))]) == []
    assert [block.event for block in await store.load("r")] == [RunEnd("goal")]


@kinds
async def test_a_deleted_run_takes_only_its_end_which_is_stored_nowhere(database: Database) -> None:
    store = RunStore(database, "here")
    assert await store.append([batch(ToolStart("c", "other", "note"))]) == ["r"]
    assert await store.append([batch(RunEnd("goal"))]) == []
    assert await store.load("r") == []


@kinds
async def test_a_session_has_one_running_run(database: Database) -> None:
    await SessionStore(database).create(session_id="s")
    store = RunStore(database, "here")
    await store.create("r", RunSpec(agent="master", session_id="s"))
    with pytest.raises(ConflictError):
        await store.create("other", RunSpec(agent="master", session_id="s"))


@kinds
async def test_the_result_of_a_run_is_stored_once(database: Database) -> None:
    store = RunStore(database, "here")
    await store.create("r", RunSpec(agent="master"))
    result = "saw" * 1000
    await store.append([batch(RunEnd("goal", "its own"), path=("r", "child"))])
    await store.append([batch(RunEnd("goal", result), after=1)])
    child, end = await store.load("r")
    assert (child.event, end.event) == (RunEnd("goal", "its own"), RunEnd("goal", result))
    bodies = await database.read(
        lambda connection: [str(body) for body in connection.scalars(sa.select(entries.c.body))]
    )
    assert sum(result in body for body in bodies) == 0
    record = await store.get("r")
    assert record.result is not None
    assert record.result.data == result


def say(text: str) -> list[Event]:
    """Events of an answer in pieces."""
    pieces = [text[start : start + 7] for start in range(0, len(text), 7)]
    return [TextStart("t"), *[TextDeltaEvent("t", piece) for piece in pieces], TextEnd("t")]


@kinds
async def test_a_long_result_is_stored_as_what_the_run_has_said(database: Database) -> None:
    store, answer = RunStore(database, "here"), "A long answer. " * 1000
    await store.create("r", RunSpec(agent="master"))
    journal = Journal("r")
    void, child = say("Nothing counts of this. " * 100), say("said by a child " * 1000)
    for event in [*void, TurnReset(), *say(answer)[:900]]:
        journal.append(event, ("r",))
    for event in child:
        journal.append(event, ("r", "child"))
    for event in [*say(answer)[900:], RunEnd("goal", answer)]:
        journal.append(event, ("r",))
    await store.append([Batch(journal, journal.take_unsaved())])
    stored = await database.read(
        lambda connection: connection.execute(sa.select(runs.c.result)).scalars().all()
    )
    assert stored == [None]
    assert (await store.load("r"))[-1].event == RunEnd("goal", answer)
    for record in [await store.get("r"), *await store.find(state="ended")]:
        assert record.result is not None
        assert record.result.data == answer


@kinds
@pytest.mark.parametrize("result", ["Another text. " * 1000, "said " * 900, {"said": [1, 2]}, None])
async def test_a_result_that_the_run_has_not_said_is_stored_with_the_run(
    database: Database, result: object
) -> None:
    store = RunStore(database, "here")
    await store.create("r", RunSpec(agent="master"))
    await store.append([batch(*say("said " * 1000), RunEnd("goal", result))])
    record = await store.get("r")
    assert record.result is not None
    assert record.result.data == result
    assert (await store.load("r"))[-1].event == RunEnd("goal", result)


@kinds
async def test_a_result_that_an_older_version_stored_with_the_event_is_read(database: Database) -> None:
    store = RunStore(database, "here")
    await store.create("r", RunSpec(agent="master"))
    await store.append([batch(RunEnd("goal", "new"))])
    await database.write(
        lambda connection: (
            connection.execute(
                sa.update(entries).values(body={"reason": "goal", "result": "old", "usage": {}})
            )
            and None
        )
    )
    [end] = await store.load("r")
    assert end.event == RunEnd("goal", "old")
