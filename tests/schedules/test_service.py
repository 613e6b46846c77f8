"""The schedules of agent files follow the files; those of people are checked and belong to their owner."""

import asyncio
from pathlib import Path

import pytest

from dovetail.app import Dovetail
from dovetail.errors import ConfigError, ConflictError, NotFoundError
from dovetail.schedules.service import TICKING
from dovetail.schedules.store import MOST_SCHEDULES
from dovetail.store.retention import prune
from patience import PATIENCE
from postgres import make_database, uses_postgres
from scheduled import NINE, Clock, Process, make_schedule, start_process

MINUTE = 60.0


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=uses_postgres)])
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/x.db" if request.param == "sqlite" else await make_database()


def write(folder: Path, *lines: str) -> None:
    """Write the file of an agent with these schedules."""
    (folder / "agents").mkdir(exist_ok=True)
    tables = "".join(f'  - {{schedule: "{line}", message: Look {n}.}}\n' for n, line in enumerate(lines, 1))
    schedule = f"schedule:\n{tables}" if lines else ""
    (folder / "agents" / "scout.md").write_text(f"---\ndescription: Looks.\n{schedule}---\nLook well.")


async def synchronize(process: Process, owner: str = "local") -> None:
    await process.app.reload()
    await process.schedules.synchronize(process.app.agents.get_all_definitions(), owner=owner)


async def ids(process: Process) -> list[str]:
    return [schedule.id for schedule in await process.schedules.store.find()]


async def test_schedules_follow_their_file(tmp_path: Path, url: str) -> None:
    clock = Clock()
    write(tmp_path, "0 10 * * *", "0 11 * * *")
    async with start_process(tmp_path, url, clock) as process:
        await synchronize(process)
        assert await ids(process) == ["scout.1", "scout.2"]
        first = await process.schedules.store.get("scout.1")
        assert (first.message, first.source, first.next_at) == ("Look 1.", "file", NINE + 3600)
        write(tmp_path, "30 10 * * *")
        await synchronize(process, owner="ann")
        (changed,) = await process.schedules.store.find(owner="ann")
        assert (changed.next_at, changed.created_at) == (NINE + 5400, NINE)
        write(tmp_path)
        await synchronize(process)
        assert await ids(process) == []
        clock.now += 86400
        await process.look()
        assert await process.wait_for_runs() == []


async def test_a_reload_keeps_what_is_due_and_what_is_paused(tmp_path: Path, url: str) -> None:
    clock = Clock()
    write(tmp_path, "* * * * *", "* * * * *")
    async with start_process(tmp_path, url, clock, ["Seen."]) as process:
        await synchronize(process)
        await process.schedules.change("scout.2", {"enabled": False}, owner="local")
        clock.now += 2 * MINUTE
        await synchronize(process)
        assert (await process.schedules.store.get("scout.1")).next_at == NINE + MINUTE
        assert (await process.schedules.store.get("scout.2")).next_at is None
        await process.look()
        assert await process.states("scout.1") == ["09:01 skipped", "09:02 started"]
        assert await process.states("scout.2") == []


async def test_a_tick_that_ran_does_not_run_again_when_its_file_returns(tmp_path: Path, url: str) -> None:
    clock = Clock()
    write(tmp_path, "* * * * *")
    async with start_process(tmp_path, url, clock, ["Seen.", "Seen."]) as process:
        await synchronize(process)
        clock.now += MINUTE
        await process.look()
        write(tmp_path)
        await synchronize(process)
        write(tmp_path, "* * * * *")
        clock.now -= 1  # the clock of another machine
        await synchronize(process)
        clock.now += 2
        await process.look()
        assert await process.states("scout.1") == ["09:01 started"]


async def test_processes_that_start_at_once_store_a_schedule_once(tmp_path: Path, url: str) -> None:
    clock = Clock()
    write(tmp_path, "0 10 * * *")
    async with (
        start_process(tmp_path, url, clock) as one,
        start_process(tmp_path, url, clock) as two,
        start_process(tmp_path, url, clock) as three,
    ):
        await asyncio.gather(*(synchronize(process) for process in (one, two, three)))
        assert await ids(one) == ["scout.1"]


async def test_a_broken_schedule_leaves_the_last_good_file_in_service(tmp_path: Path) -> None:
    write(tmp_path, "0 10 * * *")
    async with start_process(tmp_path, f"{tmp_path}/x.db", Clock()) as process:
        await synchronize(process)
        write(tmp_path, "61 10 * * *")
        await synchronize(process)
        assert await ids(process) == ["scout.1"]
        (broken,) = process.app.agents.broken
        assert "Invalid minute '61'" in broken.error


async def test_another_owner_can_do_nothing(tmp_path: Path, url: str) -> None:
    async with start_process(tmp_path, url, Clock()) as process:
        schedule = await process.schedules.add(make_schedule(owner="ann"))
        for attempt in (
            process.schedules.store.get(schedule.id, owner="bob"),
            process.schedules.change(schedule.id, {"title": "mine"}, owner="bob"),
            process.schedules.run_now(schedule.id, owner="bob"),
            process.schedules.remove(schedule.id, owner="bob"),
        ):
            with pytest.raises(NotFoundError):
                await attempt
        assert await process.schedules.store.find(owner="bob") == []
        assert await process.schedules.store.get(schedule.id, owner="ann") == schedule


async def test_what_cannot_run_is_refused_when_it_is_added(tmp_path: Path) -> None:
    async with start_process(tmp_path, f"{tmp_path}/x.db", Clock()) as process:
        await process.app.sessions.create(owner="ann", session_id="s")
        for wrong, error in (
            (make_schedule(agent="mastr"), ConfigError),
            (make_schedule(mode="yolo"), ConfigError),
            (make_schedule(session_id="s"), NotFoundError),
        ):
            with pytest.raises(error):
                await process.schedules.add(wrong)


async def test_an_owner_may_have_many_schedules_but_not_any_number(tmp_path: Path) -> None:
    async with start_process(tmp_path, f"{tmp_path}/x.db", Clock()) as process:
        await asyncio.gather(*(process.schedules.add(make_schedule()) for _ in range(MOST_SCHEDULES)))
        with pytest.raises(ConflictError, match="Delete some"):
            await process.schedules.add(make_schedule())
        await process.schedules.add(make_schedule(owner="ann"))


async def test_a_change_of_the_title_keeps_a_tick_that_is_due(tmp_path: Path, url: str) -> None:
    clock = Clock()
    async with start_process(tmp_path, url, clock, ["Done."]) as process:
        schedule = await process.schedules.add(make_schedule())
        clock.now += MINUTE
        changed = await process.schedules.change(schedule.id, {"title": "News"}, owner="local")
        assert (changed.title, changed.next_at) == ("News", NINE + MINUTE)
        await process.look()
        assert await process.states(schedule.id) == ["09:01 started"]


async def test_the_app_starts_what_is_due_in_the_background(tmp_path: Path) -> None:
    settings = {"schedules": {"owner": "ann"}}
    write(tmp_path, "* * * * *")
    async with start_process(tmp_path, f"{tmp_path}/x.db", Clock(), ["Seen."], settings) as process:
        schedules = await process.app.open_schedules()
        due = await schedules.store.get("scout.1", owner="ann")
        await process.schedules.store.record(due, NINE)  # years ago
        async with asyncio.timeout(PATIENCE), schedules.ticking():
            while not await schedules.store.find_ticks("scout.1", 1):
                pass
        assert len(await process.wait_for_runs()) == 1


async def test_old_records_of_ticks_are_pruned(tmp_path: Path, url: str) -> None:
    clock = Clock()
    async with start_process(tmp_path, url, clock, ["Done.", "Done."]) as process:
        schedule = await process.schedules.add(make_schedule())
        for _ in range(2):
            clock.now += MINUTE
            await process.look()
        await process.wait_for_runs()
        await prune(process.app.runs.database, before=clock.now)
        assert await process.states(schedule.id) == ["09:02 started"]


@pytest.mark.parametrize(("works", "enabled"), [(True, True), (True, False), (False, True)])
async def test_a_process_starts_ticks_if_it_works_and_is_allowed_to(
    tmp_path: Path, works: bool, enabled: bool
) -> None:
    settings = {"store": {"url": f"{tmp_path}/x.db"}, "schedules": {"enabled": enabled}}
    async with Dovetail(settings, workspace=tmp_path) as app:
        await app.open_chat(works=works)
        await app.open_schedules(ticks=True)
        is_ticking = any(task.get_name() == TICKING for task in asyncio.all_tasks())
        assert is_ticking == (works and enabled)
