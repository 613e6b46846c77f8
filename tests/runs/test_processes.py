"""Several processes on one PostgreSQL: live events, answers and cancels across, and a broken link."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from dovetail.errors import ConflictError
from dovetail.events.model_events import TextDeltaEvent
from dovetail.events.run_context import RunContext
from dovetail.events.run_events import AskRequest, RunEnd
from dovetail.events.run_result import RunResult
from dovetail.runs.asks import ABANDONED
from dovetail.runs.run import RunRecord, RunSpec
from dovetail.runs.service import Runs
from dovetail.runs.store import RunStore
from dovetail.store.database import Database
from dovetail.store.processes import open_link
from jobs import Job
from patience import PATIENCE
from postgres import make_database, uses_postgres

pytestmark = uses_postgres
SPEC = RunSpec(agent="master")


@pytest.fixture
async def databases() -> AsyncIterator[tuple[Database, Database]]:
    url = await make_database()
    async with Database(url) as one, Database(url) as other:
        yield one, other


async def test_a_run_is_read_live_at_another_process(databases: tuple[Database, Database]) -> None:
    gate = asyncio.Event()

    async def work(context: RunContext) -> RunResult:
        context.emit(TextDeltaEvent("t", "one "))
        await gate.wait()
        context.emit(TextDeltaEvent("t", "two"))
        return RunResult(text="one two")

    async with Runs(databases[0]) as here, Runs(databases[1]) as there:
        handle = await here.start(SPEC, Job(work))
        text = ""
        async with asyncio.timeout(PATIENCE), await there.read(handle.run_id) as reader:
            while not reader.ended:
                events = [entry.event for entry in await reader.next()]
                text += "".join(event.delta for event in events if isinstance(event, TextDeltaEvent))
                if text == "one ":
                    gate.set()
        assert text == "one two"
        assert isinstance(events[-1], RunEnd)


async def test_an_answer_given_at_another_process_arrives(databases: tuple[Database, Database]) -> None:
    async def work(context: RunContext) -> RunResult:
        return RunResult(data=await context.ask("browser", "c", {}, 60))

    async with Runs(databases[0]) as here, Runs(databases[1]) as there:
        handle = await here.start(SPEC, Job(work))
        await wait_for_ask(there, handle.run_id)
        assert await there.asks.acknowledge("c", {"status": "success"}, owner="local") == "resolved"
        async with asyncio.timeout(PATIENCE):
            assert (await handle.result()).value == {"status": "success"}


async def test_a_tab_that_goes_away_from_another_process_does_not_hold_the_run(
    databases: tuple[Database, Database], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dovetail.runs.asks.LOOK_SECONDS", 0.01)

    async def work(context: RunContext) -> RunResult:
        return RunResult(data=await context.ask("browser", "c", {}, 86_400))

    async with Runs(databases[0]) as here, Runs(databases[1]) as there:
        handle = await here.start(SPEC, Job(work))
        ask_id = await wait_for_ask(there, handle.run_id)
        await there.asks.claim(ask_id, "closed", owner="local", seconds=0.02)
        async with asyncio.timeout(PATIENCE):
            assert (await handle.result()).value == ABANDONED


async def test_a_cancel_at_another_process_stops_the_run(databases: tuple[Database, Database]) -> None:
    async def work(context: RunContext) -> RunResult:
        await context.cancel.now.wait()
        return RunResult(reason="cancelled")

    async with Runs(databases[0]) as here, Runs(databases[1]) as there:
        handle = await here.start(SPEC, Job(work))
        await there.cancel(handle.run_id)
        async with asyncio.timeout(PATIENCE):
            assert (await handle.result()).reason == "cancelled"
        with pytest.raises(ConflictError):
            await there.cancel(handle.run_id)


async def test_what_was_missed_while_the_link_was_broken_is_fetched(
    databases: tuple[Database, Database],
) -> None:
    async def work(context: RunContext) -> RunResult:
        return RunResult(data=await context.ask("approval", "c", {}, 60))

    async with Runs(databases[0]) as here, Runs(databases[1]) as there:
        handle = await here.start(SPEC, Job(work))
        ask_id = await wait_for_ask(there, handle.run_id)
        await break_link(databases[0], here.link.process_id)
        await there.asks.answer(ask_id, {"approved": True}, owner="local")
        async with asyncio.timeout(PATIENCE):
            assert (await handle.result()).value == {"approved": True}


async def test_only_runs_of_dead_processes_are_taken_over(databases: tuple[Database, Database]) -> None:
    async def hang(context: RunContext) -> RunResult:
        await context.cancel.now.wait()
        return RunResult(reason="cancelled")

    taken = asyncio.Event()

    async def rebuild(record: RunRecord) -> Job:
        taken.set()
        return Job(hang)

    async with Runs(databases[1], recovery_interval=0.05) as there:
        async with Runs(databases[0]) as here:
            run_id = (await here.start(SPEC, Job(hang))).run_id
            there.rebuild = rebuild
            await there.recover()
            assert (await there.get(run_id)).process_id == here.link.process_id
        async with asyncio.timeout(PATIENCE):
            await taken.wait()
        assert (await there.get(run_id)).process_id == there.link.process_id


async def test_rows_that_a_stopped_process_holds_between_two_messages_are_freed() -> None:
    url = await make_database()
    async with Database(url) as database, open_link(database, 1.0) as link:
        stopped = await asyncpg.connect(url, server_settings={"application_name": "dovetail"})
        await stopped.execute("BEGIN; LOCK TABLE runs")
        await stopped.prepare("SELECT count(*) FROM runs WHERE id = $1")
        async with asyncio.timeout(PATIENCE):
            while not stopped.is_closed():
                assert not await link.is_alive("process_dead")
                await asyncio.sleep(0)
        assert await RunStore(database, "p").find_own(["r"]) == set()


async def wait_for_ask(engine: Runs, run_id: str) -> str:
    """Read the run elsewhere until it asks."""
    async with asyncio.timeout(PATIENCE), await engine.read(run_id) as reader:
        while True:
            for entry in await reader.next():
                if isinstance(entry.event, AskRequest):
                    return entry.event.ask_id


async def break_link(database: Database, process_id: str) -> None:
    """End the connection that a process listens on, as a restarted proxy does."""
    address = database.url.set(drivername="postgresql").render_as_string(hide_password=False)
    connection = await asyncpg.connect(address)
    try:
        await connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1",
            f"dovetail {process_id}",
        )
    finally:
        await connection.close()
