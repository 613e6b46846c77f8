"""Runs that nobody works on are taken up, and no bad one holds up the others."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from dovetail.events.run_context import RunContext
from dovetail.events.run_result import RunResult
from dovetail.runs.engine import InProcessEngine
from dovetail.runs.recovery import MOST_RESUMES
from dovetail.runs.run import RunRecord, RunSpec
from dovetail.store.database import Database
from jobs import Job

pytestmark = pytest.mark.timeout(30)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with Database(tmp_path / "x.db") as database:
        yield database


async def hang(context: RunContext) -> RunResult:
    await asyncio.Event().wait()
    return RunResult()


async def finish(context: RunContext) -> RunResult:
    return RunResult(text="done")


async def leave_behind(database: Database, *agents: str) -> list[str]:
    async with InProcessEngine(database) as engine:
        return [(await engine.start(RunSpec(agent=agent), Job(hang))).run_id for agent in agents]


async def wait_for_end(engine: InProcessEngine, run_id: str) -> str:
    """Look at the run again and again: it changes hands, and each reader sees only one of its lives."""
    async with asyncio.timeout(20):
        while (record := await engine.get(run_id)).result is None:
            async with await engine.read(run_id, record.last_number) as reader:
                with suppress(TimeoutError):
                    async with asyncio.timeout(0.01):
                        await reader.next()
    return record.result.reason


async def test_one_that_cannot_be_rebuilt_holds_up_no_other_and_is_given_up_at_last(
    database: Database,
) -> None:
    bad, good = await leave_behind(database, "bad", "good")
    tries: list[str] = []

    async def rebuild(record: RunRecord) -> Job:
        tries.append(record.spec.agent)
        if record.spec.agent == "bad":
            raise RuntimeError("no way")
        return Job(finish)

    async with InProcessEngine(database, recovery_interval=0.01) as engine:
        (handle,) = await engine.recover(rebuild)
        assert (handle.run_id, (await handle.done).value) == (good, "done")
        assert await wait_for_end(engine, bad) == "interrupted"
    assert tries.count("bad") == MOST_RESUMES + 1


async def test_one_that_fell_out_of_the_hands_of_its_process_is_taken_up_by_it(database: Database) -> None:
    async def rebuild(record: RunRecord) -> Job:
        return Job(finish)

    async def refuse_to_end(context: RunContext, outcome: RunResult) -> None:
        raise RuntimeError("not even the end can be stored")

    async with InProcessEngine(database, recovery_interval=0.01) as engine:
        await engine.recover(rebuild)
        handle = await engine.start(RunSpec(agent="master"), Job(finish, refuse_to_end))
        with pytest.raises(asyncio.CancelledError):
            await handle.done
        assert await wait_for_end(engine, handle.run_id) == "goal"


async def test_a_run_that_is_just_being_started_is_left_alone(database: Database) -> None:
    async def rebuild(record: RunRecord) -> Job:
        raise AssertionError(f"{record.id} was taken up")

    async with InProcessEngine(database, recovery_interval=0.0) as engine:
        await engine.recover(rebuild)
        for _ in range(30):
            handle = await engine.start(RunSpec(agent="master"), Job(finish))
            assert (await handle.done).value == "done"


async def test_readers_who_came_before_a_run_was_taken_up_are_sent_back_to_it(database: Database) -> None:
    async def rebuild(record: RunRecord) -> Job:
        return Job(hang)

    (run_id,) = await leave_behind(database, "master")
    async with InProcessEngine(database) as engine, asyncio.timeout(10), await engine.read(run_id) as early:
        assert [entry.event.type for entry in await early.next()] == ["run-start"]
        await engine.recover(rebuild)
        while not early.ended:
            await early.next()
        async with await engine.read(run_id, early.number) as late:
            assert [entry.event.type for entry in await late.next()] == ["run-resume"]


async def test_readers_of_a_run_that_goes_on_elsewhere_are_let_go(database: Database) -> None:
    async with InProcessEngine(database) as old, InProcessEngine(database) as new:
        handle = await old.start(RunSpec(agent="master"), Job(hang))
        async with asyncio.timeout(10), await old.read(handle.run_id) as reader:
            await reader.next()
            assert await new.store.take_over(await old.get(handle.run_id))
            await old.cancel(handle.run_id)  # makes it tell something, which is refused
            while not reader.ended:
                await reader.next()


async def test_a_stop_that_was_wished_while_nobody_worked_on_a_run_is_obeyed(database: Database) -> None:
    (run_id,) = await leave_behind(database, "master")
    modes: list[str | None] = []

    async def stop(context: RunContext) -> RunResult:
        await context.cancel.now.wait()
        modes.append(context.cancel.mode)
        return RunResult(reason="cancelled")

    async def rebuild(record: RunRecord) -> Job:
        return Job(stop)

    async with InProcessEngine(database) as engine:
        await engine.cancel(run_id, "now")
        (handle,) = await engine.recover(rebuild)
        async with asyncio.timeout(20):
            assert (await handle.done).reason == "cancelled"
    assert modes == ["now"]
