"""A run left behind by a dead process is resumed from its journal; a bad one does not hold up the others."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from dovetail.events.delta import Usage
from dovetail.events.model_events import (
    ModelResponseEvent,
    ReasoningDeltaEvent,
    ReasoningStart,
    TextDeltaEvent,
    TextStart,
    ToolInputDeltaEvent,
    ToolInputEnd,
    ToolInputStart,
)
from dovetail.events.run_context import RunContext
from dovetail.events.run_events import (
    Event,
    RunResume,
    RunStart,
    ToolEnd,
    ToolStart,
    TurnEnd,
    TurnReset,
)
from dovetail.events.run_result import RunResult
from dovetail.runs.journal import Journal
from dovetail.runs.recovery import MOST_RESUMES, repair
from dovetail.runs.run import RunRecord, RunSpec
from dovetail.runs.service import Runs
from dovetail.runs.store import RunStore
from dovetail.store.database import Database
from jobs import Job
from patience import PATIENCE

LEAP = 1000
ROOT = ("r",)
START = RunStart("master", "", 0, None)


def leave_behind(*events: Event, child: tuple[Event, ...] = ()) -> Journal:
    journal = Journal("r")
    for event in (START, *events):
        journal.append(event, ROOT)
    for event in child:
        journal.append(event, ("r", "child"))
    left = Journal("r")
    left.extend(journal.take_unsaved())
    return left


def added(journal: Journal, number: int) -> list[Event]:
    return [entry.event for entry in journal.after(number)]


@pytest.mark.parametrize(
    "spoken",
    [
        [TextStart("t"), TextDeltaEvent("t", "half a sent")],
        [ReasoningStart("r"), ReasoningDeltaEvent("r", "hm")],
        [ToolInputStart("c", "add"), ToolInputDeltaEvent("c", '{"a"')],
        [ToolInputStart("c", "add"), ToolInputEnd("c", "add", {"a": 1})],
    ],
)
def test_an_answer_that_broke_off_is_void(spoken: list[Event]) -> None:
    journal = leave_behind(*spoken)
    last = journal.last
    done = repair(journal, LEAP)
    assert added(journal, last) == [RunResume(last), TurnReset()]
    assert (done.messages, done.pending, done.has_partial) == ((), (), False)
    journal.close_calls()
    assert added(journal, last) == [RunResume(last), TurnReset()]


def test_no_number_is_given_twice_although_readers_saw_more_than_was_stored() -> None:
    journal = leave_behind(TextStart("t"))
    repair(journal, LEAP)
    assert [entry.number for entry in journal.after(0)] == [1, 2, LEAP + 1, LEAP + 2]


def test_a_turn_whose_calls_have_all_ended_is_over() -> None:
    call = (ToolInputEnd("c", "add", {"a": 1}), ToolStart("c", "read", "Add"), ToolEnd("c", "ok", "2"))
    journal = leave_behind(*call)
    last = journal.last
    done = repair(journal, LEAP)
    assert added(journal, last) == [RunResume(last), TurnEnd(1, Usage(), "tool-calls")]
    assert [message["role"] for message in done.messages] == ["assistant", "tool"]
    killed_again = leave_behind(*call, TurnEnd(1, Usage(), "tool-calls"), TextDeltaEvent("t", "half"))
    assert repair(killed_again, LEAP).messages == done.messages


def test_a_call_in_progress_stays_open_for_the_process_that_knows_its_tool() -> None:
    journal = leave_behind(ToolInputEnd("c", "add", {"a": 1}), ToolStart("c", "read", "Add"))
    last = journal.last
    done = repair(journal, LEAP)
    assert added(journal, last) == [RunResume(last)]
    assert [call.call_id for call in done.pending] == ["c"]
    assert done.started == {"c"}


def test_children_stay_open_and_what_broke_off_in_them_is_void() -> None:
    call = (ToolInputEnd("c", "helper", {}), ToolStart("c", "think", "Helper"))
    journal = leave_behind(*call, child=(START, ToolInputEnd("x", "note", {})))
    last = journal.last
    repair(journal, LEAP)
    assert [(entry.path, entry.event) for entry in journal.after(last)] == [
        (ROOT, RunResume(last)),
        (("r", "child"), TurnReset()),
    ]
    assert journal.open_runs == [ROOT, ("r", "child")]


def test_a_turn_of_a_child_whose_calls_have_all_ended_is_over() -> None:
    call = (ToolInputEnd("c", "helper", {}), ToolStart("c", "think", "Helper"))
    used = (ToolInputEnd("x", "note", {}), ModelResponseEvent(1, Usage(3, 1)), ToolEnd("x", "ok", "2"))
    journal = leave_behind(*call, child=(START, *used))
    repair(journal, LEAP)
    (over,) = journal.after(LEAP + 1)
    assert (over.path, over.event) == (("r", "child"), TurnEnd(1, Usage(3, 1), "tool-calls"))


def test_usage_of_an_answer_is_recorded_although_its_turn_was_interrupted() -> None:
    answer = (ToolInputEnd("c", "add", {"a": 1}), ModelResponseEvent(1, Usage(10, 5)))
    done = repair(leave_behind(*answer), LEAP)
    assert [call.call_id for call in done.pending] == ["c"]
    assert (done.open_usage, done.spent.usage, done.spent.turns) == (Usage(10, 5), Usage(10, 5), 1)
    journal = leave_behind(*answer, ToolEnd("c", "ok", "2"))
    done = repair(journal, LEAP)
    assert added(journal, LEAP + 1) == [TurnEnd(1, Usage(10, 5), "tool-calls")]
    assert (done.open_usage, done.spent.usage, done.spent.turns) == (Usage(), Usage(10, 5), 1)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with Database(tmp_path / "x.db") as database:
        yield database


async def hang(context: RunContext) -> RunResult:
    await asyncio.Event().wait()
    return RunResult()


async def finish(context: RunContext) -> RunResult:
    return RunResult(text="done")


async def leave_orphan(database: Database, *agents: str) -> list[str]:
    async with Runs(database) as engine:
        return [(await engine.start(RunSpec(agent=agent), Job(hang))).run_id for agent in agents]


async def wait_for_end(engine: Runs, run_id: str) -> str:
    """Look at the run again and again: it changes hands, and each reader sees only one of its lives."""
    async with asyncio.timeout(PATIENCE):
        while (record := await engine.get(run_id)).result is None:
            async with await engine.read(run_id, record.last_number) as reader:
                with suppress(TimeoutError):
                    async with asyncio.timeout(0.01):
                        await reader.next()
    return record.result.reason


async def test_one_that_cannot_be_rebuilt_holds_up_no_other_and_is_given_up_at_last(
    database: Database,
) -> None:
    bad, good = await leave_orphan(database, "bad", "good")
    tries: list[str] = []

    async def rebuild(record: RunRecord) -> Job:
        tries.append(record.spec.agent)
        if record.spec.agent == "bad":
            raise RuntimeError("no way")
        return Job(finish)

    async with Runs(database, recovery_interval=0.01) as engine:
        engine.rebuild = rebuild
        await engine.recover()
        assert (await engine.result(good)).value == "done"
        assert await wait_for_end(engine, bad) == "interrupted"
    assert tries.count("bad") == MOST_RESUMES + 1


async def test_one_that_fell_out_of_the_hands_of_its_process_is_taken_up_by_it(database: Database) -> None:
    async def rebuild(record: RunRecord) -> Job:
        return Job(finish)

    async def refuse_to_end(context: RunContext, outcome: RunResult) -> None:
        raise RuntimeError("not even the end can be stored")

    async with Runs(database, recovery_interval=0.01) as engine:
        engine.rebuild = rebuild
        await engine.recover()
        handle = await engine.start(RunSpec(agent="master"), Job(finish, refuse_to_end))
        assert (await handle.result()).reason == "goal"


async def test_a_run_that_is_just_being_started_is_left_alone(database: Database) -> None:
    async def rebuild(record: RunRecord) -> Job:
        raise AssertionError(f"{record.id} was taken up")

    async with Runs(database, recovery_interval=0.0) as engine:
        engine.rebuild = rebuild
        await engine.recover()
        for _ in range(30):
            handle = await engine.start(RunSpec(agent="master"), Job(finish))
            assert (await handle.result()).value == "done"


async def test_readers_from_before_a_run_was_resumed_read_on(database: Database) -> None:
    async def rebuild(record: RunRecord) -> Job:
        return Job(hang)

    (run_id,) = await leave_orphan(database, "master")
    async with Runs(database) as engine, asyncio.timeout(PATIENCE), await engine.read(run_id) as early:
        assert [entry.event.type for entry in await early.next()] == ["run-start"]
        engine.rebuild = rebuild
        await engine.recover()
        assert [entry.event.type for entry in await early.next()] == ["run-resume"]


async def test_readers_of_a_run_that_continues_elsewhere_are_released_and_see_no_end(
    database: Database,
) -> None:
    """It was cancelled here, and its end refused: whoever reads on sees how it really ended."""

    async def stop(context: RunContext) -> RunResult:
        context.emit(ToolInputEnd("c", "work", {}))
        await context.cancel.now.wait()
        return RunResult(reason="cancelled")

    shown: list[str] = []
    observed: list[str] = []
    async with Runs(database) as old, Runs(database) as new:
        old.observe(lambda live, event, path: observed.append(event.type))
        handle = await old.start(RunSpec(agent="master"), Job(stop))
        async with asyncio.timeout(PATIENCE), await old.read(handle.run_id) as reader:
            await reader.next()
            assert await new.store.take_over(await old.get(handle.run_id))
            await old.cancel(handle.run_id)  # makes it tell something, which is refused
            while not reader.ended:
                shown += [entry.event.type for entry in await reader.next()]
        assert reader.was_left
        assert shown[-1] == observed[-1] == "tool-end"
        assert (await new.get(handle.run_id)).state == "running"


async def test_a_stop_requested_while_a_run_had_no_worker_is_obeyed(database: Database) -> None:
    (run_id,) = await leave_orphan(database, "master")
    modes: list[str | None] = []

    async def stop(context: RunContext) -> RunResult:
        await context.cancel.now.wait()
        modes.append(context.cancel.mode)
        return RunResult(reason="cancelled")

    async def rebuild(record: RunRecord) -> Job:
        return Job(stop)

    async with Runs(database) as engine:
        await engine.cancel(run_id, "now")
        engine.rebuild = rebuild
        await engine.recover()
        async with asyncio.timeout(PATIENCE):
            assert (await engine.result(run_id)).reason == "cancelled"
    assert modes == ["now"]


async def test_a_stop_at_a_process_that_has_lost_its_run_reaches_the_one_that_has_it(
    database: Database,
) -> None:
    async def stop(context: RunContext) -> RunResult:
        await context.cancel.now.wait()
        return RunResult(reason="cancelled")

    async def rebuild(record: RunRecord) -> Job:
        return Job(stop)

    async with Runs(database) as new, Runs(database) as old:  # the second one knows that it is not alone
        new.rebuild = rebuild
        handle = await old.start(RunSpec(agent="master"), Job(hang))
        assert await new.store.take_over(await new.get(handle.run_id))
        attempt = asyncio.create_task(new.attempt(handle.run_id))
        await old.cancel(handle.run_id)
        async with asyncio.timeout(PATIENCE):
            assert await attempt == "ended"
        assert (await new.get(handle.run_id)).cancel_mode == "now"


async def test_a_stop_whose_news_was_missed_is_obeyed_once_the_process_is_linked_again(
    database: Database,
) -> None:
    async def stop(context: RunContext) -> RunResult:
        await context.cancel.now.wait()
        return RunResult(reason="cancelled")

    async with Runs(database) as engine, asyncio.timeout(PATIENCE):
        handle = await engine.start(RunSpec(agent="master"), Job(stop))
        assert await engine.store.request_cancel(handle.run_id, "now")
        engine.link.on_gap()
        assert (await handle.result()).reason == "cancelled"


async def test_numbers_leap_although_the_process_died_before_the_first_event_was_stored(
    database: Database,
) -> None:
    async def rebuild(record: RunRecord) -> Job:
        return Job(finish)

    await RunStore(database, "dead").create("r", RunSpec(agent="master"))
    async with Runs(database) as engine:
        engine.rebuild = rebuild
        await engine.recover()
        assert (await engine.result("r")).value == "done"
        async with await engine.read("r") as reader:
            entries = await reader.next()
    assert [entry.event.type for entry in entries] == ["run-start", "run-resume", "run-end"]
    assert entries[1].number > 10_000
