"""The disk is full in the middle of a run: the run waits, and nothing is lost when there is room again."""

import asyncio
import resource
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dovetail.errors import StoreError
from dovetail.messages.event import ToolStart
from dovetail.messages.model_event import TextMore
from dovetail.runs.engine import InProcessEngine
from dovetail.runs.run import Job, RunContext, RunOutcome, RunSpec
from dovetail.sessions.store import SessionStore
from dovetail.store.database import Database

pytestmark = pytest.mark.timeout(60)


@contextmanager
def no_room() -> Generator[None]:
    """No file of this process can grow beyond a page."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_run_goes_on_when_there_is_room_again(tmp_path: Path) -> None:
    ready, is_full, effects = asyncio.Event(), asyncio.Event(), list[str]()

    async def work(context: RunContext) -> RunOutcome:
        context.emit(TextMore("t", "before "))
        await context.settle()
        ready.set()
        await is_full.wait()
        context.emit(TextMore("t", "meanwhile"))
        context.emit(ToolStart("c", "write", "Write"))
        await context.settle()
        effects.append("done once its start was stored")
        return RunOutcome(result="done")

    async with Database(tmp_path / "x.db") as database, InProcessEngine(database) as engine:
        handle = await engine.start(RunSpec(agent="master"), Job(work))
        async with asyncio.timeout(50):
            await ready.wait()
            with no_room():
                is_full.set()
                with pytest.raises(StoreError):
                    await SessionStore(database).create(title="no room for this" * 1000)
                assert effects == []
            assert (await handle.done).result == "done"
            history = await engine.history(handle.run_id)
    text = "".join(entry.event.delta for entry in history if isinstance(entry.event, TextMore))
    assert text == "before meanwhile"
    assert effects == ["done once its start was stored"]
