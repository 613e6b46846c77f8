"""Runs in queues of DBOS: taken by the processes that work, within limits, and taken up when one dies."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from dbos import DBOSClient

from dovetail.errors import ConfigError
from dovetail.events.model_events import ToolInputEnd
from dovetail.events.run_context import RunContext
from dovetail.events.run_result import RunResult
from dovetail.runs.engines import dbos as engines
from dovetail.runs.engines.dbos import find_database
from dovetail.runs.run import RunHandle, RunRecord, RunSpec
from dovetail.runs.service import Runs
from dovetail.settings.sections import RunSettings
from dovetail.store.database import Database
from jobs import Job
from patience import PATIENCE
from postgres import make_database, uses_postgres

pytestmark = pytest.mark.slow


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=uses_postgres)])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    url = tmp_path / "x.db" if request.param == "sqlite" else await make_database()
    async with Database(url) as database:
        yield database


class Desk:
    """Work that waits until it is let go; knows in which order runs began, and how many at once."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.made_again: list[str] = []
        self.most = 0
        self.most_by_owner: dict[str, int] = {}
        self._now: list[str] = []
        self._gates: dict[str, asyncio.Event] = {}
        self._news = asyncio.Condition()

    def let_go(self, *names: str) -> None:
        for name in names:
            self._gate(name).set()

    async def wait_for(self, check: Callable[["Desk"], bool]) -> None:
        async with asyncio.timeout(PATIENCE), self._news:
            await self._news.wait_for(lambda: check(self))

    async def start(self, runs: Runs, spec: RunSpec) -> RunHandle:
        return await runs.start(spec, self._make(spec))

    async def rebuild(self, record: RunRecord) -> Job:
        self.made_again.append(record.spec.input["name"])
        return self._make(record.spec)

    def _make(self, spec: RunSpec) -> Job:
        async def work(context: RunContext) -> RunResult:
            if context.cancel.mode is not None:
                return RunResult(reason="cancelled")
            name, owner = spec.input["name"], spec.owner
            self._now.append(owner)
            self.begun.append(name)
            self.most = max(self.most, len(self._now))
            most = max(self.most_by_owner.get(owner, 0), self._now.count(owner))
            self.most_by_owner[owner] = most
            async with self._news:
                self._news.notify_all()
            try:
                if spec.input.get("asks"):
                    return await ask(context, name)
                await self._gate(name).wait()
                return RunResult(text=f"{name} is done")
            finally:
                self._now.remove(owner)

        return Job(work)

    def _gate(self, name: str) -> asyncio.Event:
        return self._gates.setdefault(name, asyncio.Event())


async def ask(context: RunContext, call_id: str) -> RunResult:
    if not any(isinstance(entry.event, ToolInputEnd) for entry in await context.history()):
        context.emit(ToolInputEnd(call_id, "write", {}))
    assert context.ask is not None
    return RunResult(data=await context.ask("approval", call_id, {}, None))


@asynccontextmanager
async def working(
    database: Database, desk: Desk, *, works: bool = True, **settings: object
) -> AsyncIterator[Runs]:
    chosen = RunSettings(**{"engine": "dbos", **settings})  # pyright: ignore[reportArgumentType]
    runs = Runs(database, chosen, works=works, recovery_interval=0.2)
    runs.rebuild = desk.rebuild
    async with runs:
        await runs.recover()
        yield runs


def make_spec(
    name: str, owner: str = "ann", queue: str = "default", priority: int = 0, **more: object
) -> RunSpec:
    return RunSpec(agent="master", owner=owner, input={"name": name, **more}, queue=queue, priority=priority)


async def test_a_run_goes_through_the_queue_and_its_result_comes_back(database: Database) -> None:
    desk = Desk()
    async with working(database, desk) as runs:
        handle = await desk.start(runs, make_spec("one"))
        desk.let_go("one")
        async with asyncio.timeout(PATIENCE):
            assert (await handle.result()).value == "one is done"
        assert (await runs.get(handle.run_id)).state == "ended"
    assert desk.made_again == []  # the process that it was sent to has taken it


async def test_a_process_that_does_not_work_leaves_its_runs_in_the_queue(database: Database) -> None:
    desk = Desk()
    desk.let_go("one")
    async with working(database, desk, works=False) as web:
        handle = await desk.start(web, make_spec("one"))
        assert (await web.get(handle.run_id)).phase == "queued"
        assert desk.begun == []
    async with working(database, desk) as runs, asyncio.timeout(PATIENCE):
        assert (await runs.result(handle.run_id)).value == "one is done"


async def test_one_process_takes_no_more_runs_than_its_concurrency(database: Database) -> None:
    desk = Desk()
    names = [f"run{number}" for number in range(6)]
    async with working(database, desk, concurrency=2) as runs:
        handles = [await desk.start(runs, make_spec(name)) for name in names]
        await desk.wait_for(lambda desk: len(desk.begun) == 2)
        desk.let_go(*names)
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*(handle.result() for handle in handles))
    assert (sorted(desk.begun), desk.most) == (names, 2)


async def test_all_processes_together_take_no_more_than_the_total(database: Database) -> None:
    desk = Desk()
    names = [f"run{number}" for number in range(6)]
    async with working(database, desk, total_concurrency=3) as runs:
        handles = [await desk.start(runs, make_spec(name)) for name in names]
        await desk.wait_for(lambda desk: len(desk.begun) == 3)
        desk.let_go(*names)
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*(handle.result() for handle in handles))
    assert (sorted(desk.begun), desk.most) == (names, 3)


async def test_an_owner_with_many_runs_does_not_hold_up_another(database: Database) -> None:
    desk = Desk()
    async with working(database, desk, owner_concurrency=1) as runs:
        many = [await desk.start(runs, make_spec(f"a{number}", "ann")) for number in range(4)]
        one = await desk.start(runs, make_spec("b", "bob"))
        await desk.wait_for(lambda desk: {"a0", "b"} <= set(desk.begun))
        assert sorted(desk.begun) == ["a0", "b"]
        desk.let_go("b", "a0", "a1", "a2", "a3")
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*(handle.result() for handle in (*many, one)))
    assert desk.most_by_owner == {"ann": 1, "bob": 1}


async def test_a_higher_priority_starts_first_and_equal_ones_in_their_order(database: Database) -> None:
    desk = Desk()
    priorities = {"first": 0, "low": -1, "normal": 0, "next": 0, "high": 5}
    async with working(database, desk, concurrency=1) as runs:
        handles = [await desk.start(runs, make_spec("first"))]
        await desk.wait_for(lambda desk: desk.begun == ["first"])
        for name in ("low", "normal", "next", "high"):
            handles.append(await desk.start(runs, make_spec(name, priority=priorities[name])))
        desk.let_go(*priorities)
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*(handle.result() for handle in handles))
    assert desk.begun == ["first", "high", "normal", "next", "low"]


async def test_a_queue_starts_no_more_runs_per_minute_than_its_rate(database: Database) -> None:
    desk = Desk()
    desk.let_go("a1", "a2", "b1")
    async with working(database, desk, queues=("a", "b"), starts_per_minute=1) as runs:
        one = await desk.start(runs, make_spec("a1", queue="a"))
        two = await desk.start(runs, make_spec("a2", queue="a"))
        other = await desk.start(runs, make_spec("b1", queue="b"))
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(one.result(), other.result())
        assert (await runs.get(two.run_id)).phase == "queued"


async def test_a_process_takes_only_runs_of_its_queues(database: Database) -> None:
    desk = Desk()
    desk.let_go("here", "there")
    async with working(database, desk, queues=("fast",)) as runs:
        there = await desk.start(runs, make_spec("there", queue="slow"))
        here = await desk.start(runs, make_spec("here", queue="fast"))
        async with asyncio.timeout(PATIENCE):
            await here.result()
        assert desk.begun == ["here"]
    async with working(database, desk, queues=("slow",)) as runs, asyncio.timeout(PATIENCE):
        assert (await runs.result(there.run_id)).value == "there is done"


async def test_runs_in_progress_may_finish_while_a_process_drains(database: Database) -> None:
    desk = Desk()
    async with working(database, desk) as runs:
        one = await desk.start(runs, make_spec("one"))
        await desk.wait_for(lambda desk: desk.begun == ["one"])
        draining = asyncio.create_task(runs.drain(20))
        await asyncio.sleep(0)
        desk.let_go("one")
        async with asyncio.timeout(PATIENCE):
            await draining
            assert (await one.result()).value == "one is done"
        two = await desk.start(runs, make_spec("two"))
        assert (await runs.get(two.run_id)).phase == "queued"
    desk.let_go("two")
    async with working(database, desk) as runs, asyncio.timeout(PATIENCE):
        assert (await runs.result(two.run_id)).value == "two is done"
    assert desk.begun == ["one", "two"]


async def test_a_run_that_is_left_at_the_end_of_a_process_is_taken_up_by_the_next(database: Database) -> None:
    desk = Desk()
    async with working(database, desk) as runs:
        handle = await desk.start(runs, make_spec("one"))
        await desk.wait_for(lambda desk: desk.begun == ["one"])
    desk.let_go("one")
    async with working(database, desk) as runs, asyncio.timeout(PATIENCE):
        assert (await runs.result(handle.run_id)).value == "one is done"
    assert (desk.begun, desk.made_again) == (["one", "one"], ["one"])


async def test_a_run_that_waits_leaves_its_place_to_another_and_comes_back(database: Database) -> None:
    desk = Desk()
    desk.let_go("two")
    async with working(database, desk, concurrency=1, park_after=0.01) as runs:
        asking = await desk.start(runs, make_spec("one", asks=True))
        two = await desk.start(runs, make_spec("two"))
        async with asyncio.timeout(PATIENCE):
            assert (await two.result()).value == "two is done"
            assert (await runs.get(asking.run_id)).phase == "waiting"
            (open_ask,) = await runs.asks.store.list_open("ann")
            await runs.asks.answer(open_ask.id, {"approved": True}, owner="ann")
            assert (await asking.result()).value == {"approved": True}


async def test_a_waiting_run_can_be_cancelled_though_its_queue_is_full(database: Database) -> None:
    desk = Desk()
    async with working(database, desk, concurrency=1, park_after=0.01) as runs:
        asking = await desk.start(runs, make_spec("one", asks=True))
        await desk.wait_for(lambda desk: desk.begun == ["one"])
        two = await desk.start(runs, make_spec("two"))
        await desk.wait_for(lambda desk: "two" in desk.begun)
        await runs.cancel(asking.run_id)
        async with asyncio.timeout(PATIENCE):
            assert (await asking.result()).reason == "cancelled"
        desk.let_go("two")
        await two.result()


async def test_a_queued_run_can_be_cancelled_though_its_queue_is_full(database: Database) -> None:
    desk = Desk()
    async with working(database, desk, concurrency=1) as runs:
        one = await desk.start(runs, make_spec("one"))
        await desk.wait_for(lambda desk: desk.begun == ["one"])
        two = await desk.start(runs, make_spec("two"))
        await runs.cancel(two.run_id)
        async with asyncio.timeout(PATIENCE):
            assert (await two.result()).reason == "cancelled"
        desk.let_go("one")
        await one.result()


async def test_attempts_that_ended_are_deleted_after_a_while(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk()
    desk.let_go("one")
    monkeypatch.setattr(engines, "KEEP_SECONDS", -60.0)
    monkeypatch.setattr(engines, "CLEAN_SECONDS", 0.0)
    async with working(database, desk) as runs, asyncio.timeout(PATIENCE):
        handle = await desk.start(runs, make_spec("one"))
        await handle.result()
        client = DBOSClient(system_database_url=find_database(runs))
        while await client.list_workflows_async():
            await runs.engine.recover()
        client.destroy()


async def test_two_apps_of_one_process_cannot_both_work(database: Database) -> None:
    desk = Desk()
    desk.let_go("one")
    async with working(database, desk) as runs:
        with pytest.raises(ConfigError, match="DBOS is already in use in this process"):
            async with working(database, Desk()):
                pass
        handle = await desk.start(runs, make_spec("one"))
        async with asyncio.timeout(PATIENCE):
            assert (await handle.result()).value == "one is done"


async def test_queues_are_not_kept_in_memory() -> None:
    async with Database(":memory:") as database:
        with pytest.raises(ConfigError, match="cannot keep its queues in memory"):
            async with working(database, Desk()):
                pass


async def test_a_database_that_is_away_is_one_clear_message(tmp_path: Path) -> None:
    url = "postgresql://user:secret@127.0.0.1:9/x"
    async with Database(tmp_path / "x.db") as database:
        with pytest.raises(ConfigError, match="Cannot open the database of DBOS") as caught:
            async with working(database, Desk(), dbos_url=url):
                pass
    assert "secret" not in str(caught.value)
