"""Ticks: each starts one run, whoever looks, whenever; what starts none is recorded with the reason."""

import asyncio
import logging
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from dovetail.data.cron import Cron
from dovetail.schedules import ticker
from dovetail.schedules.ticker import LOOK_SECONDS, MOST_RECORDED
from dovetail.testing import Gate
from patience import PATIENCE
from postgres import make_database, uses_postgres
from scheduled import NINE, Clock, make_schedule, start_process

MINUTE, DAY = 60.0, 86400.0


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=uses_postgres)])
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/x.db" if request.param == "sqlite" else await make_database()


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def test_a_tick_is_a_normal_run_in_a_session_of_its_own(tmp_path: Path, url: str, clock: Clock) -> None:
    async with start_process(tmp_path, url, clock, ["Nothing.", "Snow."]) as process:
        schedule = await process.schedules.add(make_schedule(title="News", owner="ann"))
        await process.look()
        assert await process.wait_for_runs() == []
        for _ in range(2):
            clock.now += MINUTE
            await process.look()
        first, second = await process.wait_for_runs()
        assert [run.result and run.result.value for run in (first, second)] == ["Nothing.", "Snow."]
        assert first.spec.session_id != second.spec.session_id
        session, tree = await process.app.sessions.open(first.spec.session_id or "", owner="ann")
        assert (session.title, session.agent) == ("News", "master")
        assert session.origin == {
            "kind": "schedule",
            "schedule_id": schedule.id,
            "tick_at": NINE + MINUTE,
        }
        assert [message.text for message in tree.path()] == ["What is new?", "Nothing."]
        (newest, _) = await process.schedules.store.find_ticks(schedule.id, 10)
        assert (newest.run_id, newest.session_id) == (second.id, second.spec.session_id)
        assert (await process.schedules.store.get(schedule.id)).next_at == NINE + 3 * MINUTE


async def test_of_several_processes_one_starts_each_tick(tmp_path: Path, url: str, clock: Clock) -> None:
    async with AsyncExitStack() as exits:
        processes = [
            await exits.enter_async_context(start_process(tmp_path, url, clock, ["Done."] * 40))
            for _ in range(3)
        ]
        one = processes[0]
        ids = [(await one.schedules.add(make_schedule(message=f"Do {n}."))).id for n in range(4)]
        for _ in range(5):
            clock.now += MINUTE
            await asyncio.gather(*(process.look() for process in processes))
        runs = [await process.wait_for_runs() for process in processes][-1]
        assert [run.state for run in runs] == ["ended"] * 20
        for schedule_id in ids:
            expected = [f"09:0{number} started" for number in range(1, 6)]
            assert await one.states(schedule_id) == expected


async def test_of_missed_ticks_the_newest_runs_and_the_others_are_skipped(
    tmp_path: Path, url: str, clock: Clock
) -> None:
    async with start_process(tmp_path, url, clock, ["Late."]) as process:
        schedule = await process.schedules.add(make_schedule("0 * * * *"))
    clock.now += 3.5 * 3600
    async with start_process(tmp_path, url, clock, ["Late."]) as process:
        await process.look()
        assert len(await process.wait_for_runs()) == 1
        assert await process.states(schedule.id) == ["10:00 skipped", "11:00 skipped", "12:00 started"]
        _, older, _ = await process.schedules.store.find_ticks(schedule.id, 10)
        assert older.detail == "Missed; a newer tick runs instead."


async def test_missed_ticks_that_are_to_be_skipped_start_no_run(
    tmp_path: Path, url: str, clock: Clock
) -> None:
    async with start_process(tmp_path, url, clock, ["On time."]) as process:
        schedule = await process.schedules.add(make_schedule("0 * * * *", missed="skip"))
        clock.now += 2.5 * 3600
        await process.look()
        clock.now = NINE + 3 * 3600 + 30  # half a minute late is not missed
        await process.look()
        assert len(await process.wait_for_runs()) == 1
        assert await process.states(schedule.id) == ["10:00 skipped", "11:00 skipped", "12:00 started"]


async def test_a_year_without_a_process_is_recorded_briefly(tmp_path: Path, clock: Clock) -> None:
    async with start_process(tmp_path, f"{tmp_path}/x.db", clock, ["Late."]) as process:
        schedule = await process.schedules.add(make_schedule())
        clock.now += 365 * DAY
        await process.look()
        states = await process.states(schedule.id)
        assert len(states) == MOST_RECORDED
        assert states[-2:] == ["08:59 skipped", "09:00 started"]


async def test_a_tick_without_its_agent_is_recorded_as_failed(tmp_path: Path, url: str, clock: Clock) -> None:
    folder = tmp_path / "agents"
    folder.mkdir()
    (folder / "scout.md").write_text("---\ndescription: Looks.\n---\nLook.")
    async with start_process(tmp_path, url, clock, ["Seen."]) as process:
        schedule = await process.schedules.add(make_schedule(agent="scout"))
        (folder / "scout.md").unlink()
        await process.app.reload()
        clock.now += MINUTE
        await process.look()
        (tick,) = await process.schedules.store.find_ticks(schedule.id, 10)
        assert tick.state == "failed"
        assert "scout" in (tick.detail or "")
        assert (await process.schedules.store.get(schedule.id)).next_at == NINE + 2 * MINUTE
        (folder / "scout.md").write_text("---\ndescription: Looks.\n---\nLook.")
        await process.app.reload()
        clock.now += MINUTE
        await process.look()
        assert await process.states(schedule.id) == ["09:01 failed", "09:02 started"]


@pytest.mark.usefixtures("one_day")
async def test_a_tick_on_a_day_without_money_is_recorded_as_failed(
    tmp_path: Path, url: str, clock: Clock
) -> None:
    settings = {"limits": {"day": {"calls": 1}}}
    async with start_process(tmp_path, url, clock, ["One.", "Two."], settings) as process:
        schedule = await process.schedules.add(make_schedule())
        for _ in range(2):
            clock.now += MINUTE
            await process.look()
            await process.wait_for_runs()
        newest, _ = await process.schedules.store.find_ticks(schedule.id, 10)
        assert newest.state == "failed"
        assert "limit" in (newest.detail or "")


async def test_a_session_of_its_own_gets_every_tick(tmp_path: Path, url: str, clock: Clock) -> None:
    async with start_process(tmp_path, url, clock, ["One.", "Two."]) as process:
        await process.schedules.add(make_schedule(session_id="daily"))
        for _ in range(2):
            clock.now += MINUTE
            await process.look()
            await process.wait_for_runs()
        _, tree = await process.app.sessions.open("daily")
        assert [message.text for message in tree.path()] == ["What is new?", "One.", "What is new?", "Two."]


async def test_a_clock_that_was_ahead_holds_up_no_tick_and_repeats_none(
    tmp_path: Path, url: str, clock: Clock
) -> None:
    async with start_process(tmp_path, url, clock, ["Done."] * 10) as process:
        schedule = await process.schedules.add(make_schedule())
        clock.now += MINUTE
        await process.look()
        clock.now += 30 * DAY
        await process.look()
        clock.now = NINE + 30  # before the tick that has run
        assert await process.look() == LOOK_SECONDS
        clock.now = NINE + MINUTE
        await process.look()
        clock.now = NINE + 2 * MINUTE
        await process.look()
        runs = await process.wait_for_runs()
        assert len(runs) == 3
        assert (await process.schedules.store.get(schedule.id)).next_at == NINE + 3 * MINUTE


async def test_a_restart_finds_that_the_clock_was_ahead(tmp_path: Path, url: str, clock: Clock) -> None:
    clock.now += 30 * DAY
    async with start_process(tmp_path, url, clock) as process:
        await process.schedules.add(make_schedule())
    clock.now = NINE
    async with start_process(tmp_path, url, clock, ["Done."]) as process:
        await process.look()
        clock.now += MINUTE
        await process.look()
        assert len(await process.wait_for_runs()) == 1


async def test_the_next_look_is_at_the_next_tick(tmp_path: Path, clock: Clock) -> None:
    async with start_process(tmp_path, f"{tmp_path}/x.db", clock) as process:
        assert await process.look() == LOOK_SECONDS
        await process.schedules.add(make_schedule())
        assert await process.look() == LOOK_SECONDS
        clock.now += 59.5
        assert await process.look() == 0.5


async def test_what_another_process_adds_is_noticed(tmp_path: Path, url: str, clock: Clock) -> None:
    async with (
        start_process(tmp_path, url, clock, ["Done."]) as server,
        start_process(tmp_path, url, clock) as command,
    ):
        await server.look()
        await command.schedules.add(make_schedule())
        clock.now += MINUTE
        await server.look()
        assert len(await server.wait_for_runs()) == 1


async def test_a_paused_schedule_starts_nothing(tmp_path: Path, url: str, clock: Clock) -> None:
    async with start_process(tmp_path, url, clock, ["Done."]) as process:
        schedule = await process.schedules.add(make_schedule())
        await process.schedules.change(schedule.id, {"enabled": False}, owner="local")
        clock.now += 5 * MINUTE
        await process.look()
        await process.schedules.change(schedule.id, {"enabled": True}, owner="local")
        await process.look()
        assert await process.states(schedule.id) == []
        clock.now += MINUTE
        await process.look()
        assert await process.states(schedule.id) == ["09:06 started"]


async def test_a_time_zone_that_is_gone_stops_its_schedule_and_no_other(tmp_path: Path, clock: Clock) -> None:
    async with start_process(tmp_path, f"{tmp_path}/x.db", clock, ["Done."]) as process:
        lost = await process.schedules.add(make_schedule())
        other = await process.schedules.add(make_schedule())
        await process.schedules.store.change(
            lost.id, lambda each: replace(each, cron=Cron("* * * * *", "No/Zone"))
        )
        clock.now += MINUTE
        await process.look()
        (tick,) = await process.schedules.store.find_ticks(lost.id, 10)
        assert (tick.state, tick.detail) == ("failed", "Unknown time zone 'No/Zone'.")
        assert await process.states(other.id) == ["09:01 started"]
        clock.now += MINUTE
        await process.look()
        assert await process.states(lost.id) == ["09:01 failed"]


async def test_ticks_in_a_busy_session_wait_for_its_run_to_end(
    tmp_path: Path, url: str, clock: Clock
) -> None:
    gate = Gate()
    async with start_process(tmp_path, url, clock, [[gate, "One."], "Two."]) as process:
        schedule = await process.schedules.add(make_schedule(session_id="daily"))
        for _ in range(3):
            clock.now += MINUTE
            await process.look()
        assert await process.states(schedule.id) == ["09:01 started", "09:02 queued", "09:03 skipped"]
        skipped, queued, started = await process.schedules.store.find_ticks(schedule.id, 10)
        assert (queued.run_id, queued.session_id) == (None, "daily")
        assert started.run_id in (queued.detail or "")
        assert skipped.detail == "The message of an earlier tick still waits in the session."
        gate.open()
        async with asyncio.timeout(PATIENCE):
            while len(await process.wait_for_runs()) < 2:
                pass
        await process.wait_for_runs()
        _, tree = await process.app.sessions.open("daily")
        assert [message.text for message in tree.path()] == ["What is new?", "One.", "What is new?", "Two."]


async def test_of_several_processes_one_queues_a_tick(tmp_path: Path, url: str, clock: Clock) -> None:
    gate = Gate()
    async with (
        start_process(tmp_path, url, clock, [[gate, "One."], "Two."]) as one,
        start_process(tmp_path, url, clock, ["Two."]) as two,
    ):
        schedule = await one.schedules.add(make_schedule(session_id="daily"))
        clock.now += MINUTE
        await one.look()
        clock.now += MINUTE
        await asyncio.gather(one.look(), two.look())
        assert await one.states(schedule.id) == ["09:01 started", "09:02 queued"]
        assert len(await one.app.runs.inbox.list("daily")) == 1


class Alarm(logging.Handler):
    """Notes the first warning."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.rang = asyncio.Event()

    def emit(self, record: logging.LogRecord) -> None:
        self.rang.set()


async def test_ticks_of_a_time_without_a_database_run_when_it_is_back(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ticker, "LOOK_SECONDS", 0.01)
    alarm, log = Alarm(), logging.getLogger(ticker.__name__)
    async with (
        start_process(tmp_path, f"{tmp_path}/x.db", clock, ["Late."]) as process,
        asyncio.timeout(PATIENCE),
    ):
        schedule = await process.schedules.add(make_schedule("0 * * * *"))
        await process.app.runs.database.close()
        log.addHandler(alarm)
        async with process.schedules.ticking():
            await alarm.rang.wait()
            clock.now += 2.5 * 3600
            await process.app.runs.database.__aenter__()
            while not await process.schedules.store.find_ticks(schedule.id, 1):
                pass
        log.removeHandler(alarm)
        assert await process.states(schedule.id) == ["10:00 skipped", "11:00 started"]
