"""The processes that share a database: listed while they live, shown as gone when they were killed."""

import asyncio
from pathlib import Path

import pytest
import sqlalchemy as sa

from dovetail.runs.run import RunSpec
from dovetail.runs.store import RunStore
from dovetail.runs.workers import ProcessTable, Queue
from dovetail.settings.sections import RunSettings
from dovetail.store.database import Database
from dovetail.store.processes import open_link
from dovetail.store.tables import processes
from postgres import make_database, uses_postgres


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=uses_postgres)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str | Path:
    return tmp_path / "x.db" if request.param == "sqlite" else asyncio.run(make_database())


async def test_processes_see_each_other_until_they_leave_or_die(url: str | Path) -> None:
    async with Database(url) as database, open_link(database) as mine:
        table = ProcessTable(database, mine, RunSettings())
        async with table.showing("web", works=False):
            link = open_link(database)
            async with link:
                other = ProcessTable(database, link, RunSettings(queues=("default", "slow")))
                showing = other.showing("worker")
                await showing.__aenter__()
                await RunStore(database, link.process_id).create("run_1", RunSpec(agent="a", queue="slow"))
                web, worker = await table.list_processes()
                assert (web.role, web.queues, web.is_alive, web.runs) == ("web", (), True, 0)
                assert (worker.role, worker.queues, worker.runs) == ("worker", ("default", "slow"), 1)
                assert worker.is_alive
                before = worker.seen_at
                await other.sign()
                assert (await table.list_processes())[1].seen_at > before
            assert [each.is_alive for each in await table.list_processes()] == [True, False]
            await showing.__aexit__(None, None, None)
            assert [each.role for each in await table.list_processes()] == ["web"]
        count = sa.select(sa.func.count()).select_from(processes)
        assert await database.read(lambda connection: connection.scalar(count)) == 0


async def test_a_process_that_died_long_ago_is_forgotten(tmp_path: Path) -> None:
    async with Database(tmp_path / "x.db") as database, open_link(database) as link:
        row = {"id": "old", "host": "h", "pid": 1, "role": "web", "engine": "local", "queues": []}
        old = sa.insert(processes).values({**row, "started_at": 0.0, "seen_at": 0.0})
        await database.write(lambda connection: connection.execute(old) and None)
        table = ProcessTable(database, link, RunSettings())
        async with table.showing("web"):
            assert [each.id for each in await table.list_processes()] == [link.process_id]


async def test_queues_are_counted_by_what_their_runs_do(url: str | Path) -> None:
    async with Database(url) as database, open_link(database) as link:
        store = RunStore(database, link.process_id)
        await store.create("run_1", RunSpec(agent="a"), phase="queued")
        await store.create("run_2", RunSpec(agent="a"))
        await store.create("run_3", RunSpec(agent="a", queue="slow"))
        await store.park("run_3", waits_for=1)
        found = await ProcessTable(database, link, RunSettings()).list_queues()
        assert found == [
            Queue(name="default", queued=1, working=1, waiting=0),
            Queue(name="slow", queued=0, working=0, waiting=1),
        ]
