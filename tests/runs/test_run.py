"""The smallest run: started, cancelled, and nothing to continue."""

import asyncio
from pathlib import Path

from dovetail.events.run_context import RunContext
from dovetail.events.run_result import RunResult
from dovetail.runs.run import RunRecord, RunSpec
from dovetail.runs.service import Runs
from dovetail.store.database import Database
from jobs import Job
from patience import PATIENCE


async def wait_until_cancelled(context: RunContext) -> RunResult:
    await context.cancel.now.wait()
    return RunResult(reason="cancelled")


async def rebuild_none(record: RunRecord) -> Job | None:
    return None


async def test_a_run_is_started_with_an_id_of_choice_and_cancelled(tmp_path: Path) -> None:
    async with Database(tmp_path / "x.db") as database, Runs(database) as engine:
        engine.rebuild = rebuild_none
        await engine.recover()
        handle = await engine.start(RunSpec(agent="master"), Job(wait_until_cancelled), run_id="run_1")
        await engine.cancel(handle.run_id)
        async with asyncio.timeout(PATIENCE):
            outcome = await handle.result()
    assert (handle.run_id, outcome.reason) == ("run_1", "cancelled")
