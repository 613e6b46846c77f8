"""The contract of engines, kept by the one we have."""

import asyncio
from pathlib import Path

from dovetail.runs.engine import InProcessEngine
from dovetail.runs.run import Job, RunContext, RunEngine, RunOutcome, RunRecord, RunSpec
from dovetail.store.database import Database


async def wait_until_cancelled(context: RunContext) -> RunOutcome:
    await context.cancel.now.wait()
    return RunOutcome(reason="cancelled")


async def rebuild_none(record: RunRecord) -> Job | None:
    return None


async def test_who_knows_only_the_contract_can_start_stop_and_continue_runs(tmp_path: Path) -> None:
    async with Database(tmp_path / "x.db") as database, InProcessEngine(database) as in_process:
        engine: RunEngine = in_process
        assert await engine.recover(rebuild_none) == []
        handle = await engine.start(RunSpec(agent="master"), Job(wait_until_cancelled), run_id="run_1")
        await engine.cancel(handle.run_id)
        async with asyncio.timeout(10):
            outcome = await handle.done
    assert (handle.run_id, outcome.reason) == ("run_1", "cancelled")
