"""What is in a database, and taking out what is old."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from dovetail.events.run_context import RunContext, entered
from dovetail.runs.run import RunSpec
from dovetail.runs.store import RunStore
from dovetail.sessions.message import Message
from dovetail.sessions.store import SessionStore
from dovetail.store.artifacts import ArtifactTable
from dovetail.store.database import Database
from dovetail.store.retention import Counts, count_all, prune
from dovetail.store.tables import runs, sessions
from postgres import make_database, uses_postgres

EMPTY = Counts()
ONE = Counts(sessions=1, messages=1, runs=1, events=0, artifacts=1, artifact_bytes=4)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=uses_postgres)])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    url = tmp_path / "x.db" if request.param == "sqlite" else await make_database()
    async with Database(url) as database:
        yield database


async def fill(database: Database, name: str, *, changed: float, state: str = "ended") -> str:
    """Make a session with a message, a run and an artifact; return the artifact's id."""
    store = SessionStore(database)
    await store.create(session_id=name)
    await store.save_message(name, Message(id="m", parts=[{"type": "text", "text": "hi"}]))
    await RunStore(database, "p").create(f"run-{name}", RunSpec(agent="master", session_id=name))
    with entered(RunContext(session_id=name, run_path=(f"run-{name}",))):
        artifact_id = await ArtifactTable(database).put("long", owner="local")
    age = sa.update(sessions).where(sessions.c.id == name).values(updated_at=changed)
    await database.write(lambda connection: connection.execute(age))
    end = sa.update(runs).where(runs.c.session_id == name).values(state=state)
    await database.write(lambda connection: connection.execute(end))
    return artifact_id


async def test_old_sessions_go_with_all_that_is_theirs(database: Database) -> None:
    old, new = await fill(database, "old", changed=10.0), await fill(database, "new", changed=30.0)
    assert await count_all(database) == ONE + ONE
    assert await prune(database, before=20.0, is_trial=True) == ONE
    assert await count_all(database) == ONE + ONE
    assert await prune(database, before=20.0) == ONE
    assert await count_all(database) == ONE
    table = ArtifactTable(database)
    assert await table.get(old, owner="local") is None
    assert await table.get(new, owner="local") == "long"
    assert await prune(database, before=20.0) == EMPTY


async def test_a_session_that_is_being_answered_stays_however_old(database: Database) -> None:
    await fill(database, "busy", changed=10.0, state="running")
    assert await prune(database, before=20.0) == EMPTY
    assert (await count_all(database)).sessions == 1


async def test_runs_and_artifacts_of_no_session_go_by_their_own_age(database: Database) -> None:
    store = RunStore(database, "p")
    await store.create("r", RunSpec(agent="master"))
    await ArtifactTable(database).put("alone", owner=None)
    end = sa.update(runs).values(state="ended", ended_at=10.0)
    await database.write(lambda connection: connection.execute(end))
    assert await prune(database, before=20.0) == Counts(runs=1)
    assert await prune(database, before=4e9) == Counts(artifacts=1, artifact_bytes=5)
    assert await count_all(database) == EMPTY


async def test_more_sessions_than_fit_one_transaction_are_all_deleted(database: Database) -> None:
    rows = [
        {"id": f"s{n}", "owner": "local", "title": "", "version": 1, "created_at": 1.0, "updated_at": 1.0}
        for n in range(250)
    ]
    await database.write(lambda connection: connection.execute(sa.insert(sessions), rows))
    assert await prune(database, before=2.0) == Counts(sessions=250)
    assert await count_all(database) == EMPTY


async def test_an_artifact_is_read_by_its_owner_alone(database: Database) -> None:
    table = ArtifactTable(database)
    text = "half a pair: \ud83d, 长"
    artifact_id = await table.put(text, owner="ann")
    assert await table.get(artifact_id, owner="ann") == text
    assert await table.get(artifact_id, owner="bob") is None
    assert await table.get(artifact_id, owner=None) is None


async def put_below(database: Database, name: str, parent: str) -> None:
    move = sa.update(sessions).where(sessions.c.id == name).values(parent_id=parent)
    await database.write(lambda connection: connection.execute(move))


async def test_sessions_below_another_one_stay_and_go_with_it(database: Database) -> None:
    for name in ("top", "middle", "bottom"):
        await fill(database, name, changed=10.0)
    await put_below(database, "middle", "top")
    await put_below(database, "bottom", "middle")
    await database.write(
        lambda connection: connection.execute(
            sa.update(sessions).where(sessions.c.id == "bottom").values(updated_at=30.0)
        )
    )
    assert await prune(database, before=20.0) == EMPTY  # something below it has changed since
    assert await prune(database, before=40.0) == ONE + ONE + ONE
    assert await count_all(database) == EMPTY


async def test_old_session_below_one_that_was_used_since_stays(database: Database) -> None:
    await fill(database, "top", changed=30.0)
    await fill(database, "old", changed=10.0)
    await put_below(database, "old", "top")
    assert await prune(database, before=20.0) == EMPTY
    assert await count_all(database) == ONE + ONE


async def test_sessions_below_one_that_is_gone_go_by_their_own_age(database: Database) -> None:
    await fill(database, "left", changed=10.0)
    await put_below(database, "left", "gone")
    assert await prune(database, before=20.0) == ONE
