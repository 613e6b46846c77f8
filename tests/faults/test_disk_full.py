"""The disk is full in the middle of a run: the run waits, and nothing is lost when there is room again."""

import asyncio
import contextlib
import resource
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dovetail.errors import ConfigError, StoreError
from dovetail.events.model_events import TextDeltaEvent
from dovetail.events.run_context import RunContext
from dovetail.events.run_events import ToolStart
from dovetail.events.run_result import RunResult
from dovetail.runs.run import RunSpec
from dovetail.runs.service import Runs
from dovetail.sessions.store import SessionStore
from dovetail.store.database import Database
from dovetail.store.errors import Health
from jobs import Job
from patience import PATIENCE
from serving import serve


@contextmanager
def no_room() -> Generator[None]:
    """No file of this process can grow beyond a page."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_run_continues_when_there_is_space_again(tmp_path: Path) -> None:
    ready, is_full, effects = asyncio.Event(), asyncio.Event(), list[str]()

    async def work(context: RunContext) -> RunResult:
        context.emit(TextDeltaEvent("t", "before "))
        await context.flush()
        ready.set()
        await is_full.wait()
        context.emit(TextDeltaEvent("t", "meanwhile"))
        context.emit(ToolStart("c", "write", "Write"))
        await context.flush()
        effects.append("done once its start was stored")
        return RunResult(text="done")

    async with Database(tmp_path / "x.db") as database, Runs(database) as engine:
        handle = await engine.start(RunSpec(agent="master"), Job(work))
        async with asyncio.timeout(PATIENCE):
            await ready.wait()
            with no_room():
                is_full.set()
                with pytest.raises(StoreError):
                    await SessionStore(database).create(title="no room for this" * 1000)
                assert effects == []
            assert (await handle.result()).value == "done"
            history = await engine.history(handle.run_id)
    text = "".join(entry.event.delta for entry in history if isinstance(entry.event, TextDeltaEvent))
    assert text == "before meanwhile"
    assert effects == ["done once its start was stored"]


async def test_a_server_without_room_is_not_ready_until_there_is_some(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with serve(tmp_path, ["Hello."]) as server:
        assert (await server.client.get("/readyz")).status_code == 200
        server.app.sessions._database._health._proved = None  # pyright: ignore[reportPrivateUsage]
        with no_room():
            refused = await server.client.get("/readyz")
            assert (refused.status_code, refused.json()["error"]["type"]) == (503, "store_error")
            assert "The database failed: disk I/O error" in caplog.text
            assert "disk I/O" not in refused.text
            assert (await server.client.get("/healthz")).status_code == 200
        assert (await server.client.get("/readyz")).status_code == 200


async def test_a_damaged_database_is_reported_as_such_and_is_not_ready(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    async with Database(path) as database:
        await SessionStore(database).check()
        for number in range(30):
            await SessionStore(database).create(title=f"{number}" * 2000)
    damaged = bytearray(path.read_bytes())
    damaged[4096:] = b"\xff" * (len(damaged) - 4096)
    path.write_bytes(bytes(damaged))
    with pytest.raises((StoreError, ConfigError), match="The file is damaged"):
        await use(path)


async def use(path: Path) -> None:
    """Open a database, try to store something, and ask whether that works."""
    async with Database(path) as database:
        store = SessionStore(database)
        with contextlib.suppress(StoreError):
            await store.create()
        await store.check()


def test_a_failure_counts_for_a_while_and_ends_with_the_next_write() -> None:
    now = 0.0
    health = Health(lambda: now)
    assert health.needs_proof()
    with health.noted():
        pass
    health.check()
    assert not health.needs_proof()
    with pytest.raises(StoreError), health.noted():
        raise StoreError("database or disk is full")
    health.check()
    assert health.needs_proof()
    with pytest.raises(StoreError), health.noted():
        raise StoreError("database disk image is malformed", hint="Restore it.")
    with pytest.raises(StoreError, match="malformed\nRestore it"):
        health.check()
    now = 31.0
    health.check()
    assert health.needs_proof()
    with health.noted():
        pass
    assert not health.needs_proof()
