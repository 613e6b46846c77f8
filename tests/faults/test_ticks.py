"""Real servers that share schedules: each tick runs once, also if a server is killed in the middle of one."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import asyncpg
import pytest
import sqlalchemy as sa

from dovetail.store.database import Database
from dovetail.store.tables import runs, schedules, ticks
from dovetail.testing import Gate, ScriptedServer
from faults.world import World
from patience import PATIENCE
from postgres import make_database

pytestmark = pytest.mark.slow
TODAY = datetime.now(UTC)
LAST = datetime(TODAY.year - (TODAY.month < 8), (TODAY.month + 4) % 12 + 1, 1, tzinfo=UTC)
"""A tick that is due at once: the first day of a month, seven months ago; the next one is far, too."""
YEARLY = f"0 0 1 {LAST.month} *"


@asynccontextmanager
async def start_servers(
    folder: Path, url: str, count: int, replies: Sequence[Any]
) -> AsyncIterator[tuple[list[World], ScriptedServer]]:
    """Servers of the same workspace on the same database."""
    with ScriptedServer(replies) as model:
        environment = {"DATABASE_URL": url, "DOVETAIL_MODEL": "openai:x", "DOVETAIL_BASE_URL": model.url}
        worlds = [World(folder, environment) for _ in range(count)]
        try:
            for world in worlds:
                await world.__aenter__()
                await world.start()
            yield worlds, model
        finally:
            for world in worlds:
                await world.__aexit__()


async def add(world: World, **fields: str) -> str:
    """Add a schedule that is not due; return its id."""
    body = {"schedule": YEARLY, "message": "What is new?", **fields}
    answer = await world.request("POST", "/api/v1/schedules", json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


async def make_due(database: Database) -> None:
    """Have all schedules wait for a tick that has passed."""
    statement = sa.update(schedules).values(next_at=LAST.timestamp())
    await database.write(lambda connection: connection.execute(statement) and None)


async def wait_for_ticks(world: World, schedule_id: str) -> list[dict[str, Any]]:
    """Return the ticks of a schedule once its last one has ended."""
    while True:
        view = (await world.request("GET", f"/api/v1/schedules/{schedule_id}")).json()
        if view["ticks"] and view["ticks"][0]["run_id"]:
            run = (await world.request("GET", f"/api/v1/runs/{view['ticks'][0]['run_id']}")).json()
            if run["state"] == "ended":
                assert run["reason"] == "goal", run
                return view["ticks"]


async def count_runs(database: Database) -> int | None:
    statement = sa.select(sa.func.count()).select_from(runs)
    return await database.read(lambda connection: connection.scalar(statement))


async def test_two_servers_run_each_tick_once(tmp_path: Path) -> None:
    url = await make_database()
    async with start_servers(tmp_path, url, 2, ["Done."] * 100) as (worlds, model), Database(url) as database:
        ids = [await add(worlds[0]) for _ in range(30)]
        async with asyncio.timeout(PATIENCE):
            for _ in range(2):
                await make_due(database)  # again: the same ticks have run already
                for schedule_id in ids:
                    (tick,) = await wait_for_ticks(worlds[1], schedule_id)
                    assert tick["state"] == "started"
        assert await count_runs(database) == 30
        assert len(model.requests) == 30


async def test_a_server_killed_inside_the_transaction_of_a_tick_leaves_it_to_another(tmp_path: Path) -> None:
    url = await make_database()
    async with start_servers(tmp_path, url, 1, ["Done."] * 3) as (worlds, _), Database(url) as database:
        schedule_id = await add(worlds[0])
        held = await asyncpg.connect(url)
        try:
            await make_due(database)
            async with asyncio.timeout(PATIENCE), held.transaction():
                await held.execute("SELECT * FROM schedules FOR UPDATE")
                waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                while not await held.fetchval(waiting):
                    """The tick waits for the row of its schedule."""
                await worlds[0].end()
            assert await count_runs(database) == 0
            await worlds[0].start()
            async with asyncio.timeout(PATIENCE):
                (tick,) = await wait_for_ticks(worlds[0], schedule_id)
        finally:
            await held.close()
        assert tick["state"] == "started"
        assert await count_runs(database) == 1


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_a_server_killed_in_the_run_of_a_tick_resumes_it_and_starts_no_other(
    tmp_path: Path, kind: str
) -> None:
    url = f"sqlite:///{tmp_path / 'x.db'}" if kind == "sqlite" else await make_database()
    gate = Gate()
    replies = [["Half of ", gate, "it."], "All of it."]
    async with start_servers(tmp_path, url, 1, replies) as ((world,), _), Database(url) as database:
        schedule_id = await add(world, session_id="daily")
        await make_due(database)
        async with asyncio.timeout(PATIENCE):
            await gate.reached.async_wait()
            await world.end()
            gate.open()
            await world.start()
            (tick,) = await wait_for_ticks(world, schedule_id)
            view = (await world.request("GET", "/api/v1/sessions/daily")).json()
        texts = [message["parts"][-1]["text"] for message in view["path"]]
        assert texts == ["What is new?", "All of it."]
        assert (tick["state"], tick["session_id"]) == ("started", "daily")
        assert await count_runs(database) == 1


@pytest.mark.parametrize("missed", ["latest", "skip"])
async def test_ticks_that_passed_while_no_server_was_there_follow_the_rule(
    tmp_path: Path, missed: str
) -> None:
    url = f"sqlite:///{tmp_path / 'x.db'}"
    async with start_servers(tmp_path, url, 1, ["Done."]) as ((world,), _), Database(url) as database:
        last = time.time() // 60 * 60 - 1800  # half an hour ago
        minute = datetime.fromtimestamp(last, UTC).minute
        schedule_id = await add(world, schedule=f"{minute} * * * *", missed=missed)
        await world.end()
        statement = sa.update(schedules).values(next_at=last - 3 * 3600)
        await database.write(lambda connection: connection.execute(statement) and None)
        await world.start()
        async with asyncio.timeout(PATIENCE):
            ticks = list[Any]()
            while not ticks:
                ticks = (await world.request("GET", f"/api/v1/schedules/{schedule_id}")).json()["ticks"]
        assert len(ticks) == 4
        newest = "started" if missed == "latest" else "skipped"
        assert [tick["state"] for tick in ticks] == [newest, *["skipped"] * 3]


@asynccontextmanager
async def start_worker(folder: Path, environment: dict[str, str]) -> AsyncIterator[None]:
    """A worker of the engine dbos, once it is ready."""
    words = ("-m", "dovetail", "worker", "--engine", "dbos", "--workspace", str(folder))
    worker = await asyncio.create_subprocess_exec(
        *(sys.executable, *words), env=environment, stdout=asyncio.subprocess.PIPE
    )
    assert worker.stdout is not None
    try:
        assert b"Working on the queue default (dbos)" in await worker.stdout.readline()
        yield
    finally:
        worker.terminate()
        await worker.communicate()


async def test_two_workers_of_dbos_run_each_tick_once(tmp_path: Path) -> None:
    url, lines = await make_database(), "".join(f'  - {{schedule: "{YEARLY}", message: Look.}}\n' * 10)
    (tmp_path / "agents").mkdir()
    text = f"---\ndescription: Looks.\nschedule:\n{lines}---\nLook well."
    (tmp_path / "agents" / "scout.md").write_text(text)
    with ScriptedServer(["Done."] * 50) as model:
        settings = {"DATABASE_URL": url, "DOVETAIL_MODEL": "openai:x", "DOVETAIL_BASE_URL": model.url}
        environment = {**os.environ, **settings}
        async with (
            asyncio.timeout(PATIENCE),
            start_worker(tmp_path, environment),
            start_worker(tmp_path, environment),
            Database(url) as database,
        ):
            await make_due(database)
            ended = sa.select(sa.func.count()).select_from(runs).where(runs.c.reason == "goal")
            while await database.read(lambda connection: connection.scalar(ended)) != 10:
                """They work."""
            of_ticks = sa.select(ticks.c.schedule_id, ticks.c.state).order_by(ticks.c.schedule_id)
            found = await database.read(lambda connection: connection.execute(of_ticks).all())
            assert await count_runs(database) == 10
        assert len(model.requests) == 10
    assert sorted(map(tuple, found)) == sorted((f"scout.{number}", "started") for number in range(1, 11))
