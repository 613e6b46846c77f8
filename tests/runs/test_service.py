"""Runs and their readers: started, read, asked, cancelled, resumed."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from dovetail.errors import ConflictError, ModelError, NotFoundError
from dovetail.events.delta import Usage
from dovetail.events.model_events import TextDeltaEvent, TextEnd, ToolInputEnd
from dovetail.events.run_context import RunContext
from dovetail.events.run_events import (
    AskAnswer,
    AskRequest,
    Entry,
    Event,
    RunEnd,
    ToolEnd,
    ToolStart,
    TurnEnd,
)
from dovetail.events.run_result import RunResult
from dovetail.loop.replay import replay
from dovetail.runs.ask_store import AskRecord
from dovetail.runs.asks import ABANDONED, UNCLAIMED
from dovetail.runs.engine import Engine, RunHost, Ticket
from dovetail.runs.reader import Reader
from dovetail.runs.run import RunHandle, RunRecord, RunSpec
from dovetail.runs.service import Runs
from dovetail.sessions.message import Message
from dovetail.sessions.rows import store_answer, store_question
from dovetail.sessions.store import SessionStore
from dovetail.store.database import Database, SaveWork
from jobs import Job
from patience import PATIENCE
from postgres import make_database, uses_postgres

SPEC = RunSpec(agent="master", session_id="s")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=uses_postgres)])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    url = tmp_path / "x.db" if request.param == "sqlite" else await make_database()
    async with Database(url) as database:
        await SessionStore(database).create(session_id="s")
        yield database


@pytest.fixture
async def engine(database: Database) -> AsyncIterator[Runs]:
    async with Runs(database) as engine:
        yield engine


async def read_all(reader: Reader) -> list[Entry]:
    entries: list[Entry] = []
    async with reader:
        while not reader.ended:
            entries += await reader.next()
    return entries


def events_of(entries: list[Entry]) -> list[Event]:
    return [entry.event for entry in entries]


async def talk(context: RunContext) -> RunResult:
    for word in ("one ", "two ", "three"):
        context.emit(TextDeltaEvent("t", word))
    context.emit(TurnEnd(1, Usage(7, 3), "stop"))
    return RunResult(text="one two three")


async def test_a_run_is_read_live_and_again_from_the_store(engine: Runs) -> None:
    gate = asyncio.Event()

    async def work(context: RunContext) -> RunResult:
        context.emit(TextDeltaEvent("t", "one "))
        await gate.wait()
        return await talk(context)

    handle = await engine.start(SPEC, Job(work))
    reader = await engine.read(handle.run_id)
    async with reader:
        first = await reader.next() + await reader.next()
        assert events_of(first)[1:] == [TextDeltaEvent("t", "one ")]
        gate.set()
        rest = await read_all(reader)
    outcome = await handle.result()
    assert outcome.value == "one two three"
    assert events_of(rest)[-1] == RunEnd("goal", "one two three", Usage(7, 3))
    again = await read_all(await engine.read(handle.run_id, after=2))
    assert (
        "".join(event.delta for event in events_of(again) if isinstance(event, TextDeltaEvent))
        == "one two three"
    )
    record = await engine.get(handle.run_id)
    assert (record.state, record.last_number) == ("ended", rest[-1].number)


async def test_one_session_has_one_run_at_a_time(engine: Runs) -> None:
    gate = asyncio.Event()

    async def work(context: RunContext) -> RunResult:
        await gate.wait()
        return RunResult()

    handle = await engine.start(SPEC, Job(work))
    with pytest.raises(ConflictError, match=f"'s' is busy: run '{handle.run_id}'"):
        await engine.start(SPEC, Job(work))
    running = await engine.find_running("s")
    assert running is not None
    assert running.id == handle.run_id
    gate.set()
    await handle.result()
    assert await engine.find_running("s") is None
    await (await engine.start(SPEC, Job(work))).result()


class Queue(Engine):
    """Keeps tickets that no process takes."""

    async def open(self, host: RunHost, *, works: bool) -> None:
        return None

    async def submit(self, ticket: Ticket) -> None:
        return None

    async def close(self) -> None:
        return None


async def test_a_run_that_waits_in_a_queue_is_the_running_one_of_its_session(database: Database) -> None:
    async with Runs(database, engine=Queue(), works=False) as runs:
        handle = await runs.start(SPEC, Job(talk))
        running = await runs.find_running("s")
        assert running is not None
        assert (running.id, running.phase) == (handle.run_id, "queued")


class Hand(Queue):
    """Keeps tickets until a test has a run taken up by hand."""

    async def open(self, host: RunHost, *, works: bool) -> None:
        self.host = host


async def test_a_queued_run_is_announced_again_when_it_is_taken_up(database: Database) -> None:
    engine = Hand()
    async with Runs(database, engine=engine) as runs, runs.feed.read("local") as reader:
        handle = await runs.start(SPEC, Job(talk))
        begun = {"type": "run", "run_id": handle.run_id, "session_id": "s", "state": "running"}
        assert begun in await reader.next()
        assert await engine.host.attempt(handle.run_id) == "ended"
        assert begun in await reader.next()


async def test_a_session_is_free_as_soon_as_the_end_of_its_run_was_read(engine: Runs) -> None:
    for _ in range(3):
        handle = await engine.start(SPEC, Job(talk))
        await read_all(await engine.read(handle.run_id))
        assert await engine.find_running("s") is None


async def test_what_is_kept_of_a_run_is_there_when_its_end_is_read(engine: Runs, database: Database) -> None:
    sessions = SessionStore(database)

    async def keep(context: RunContext, outcome: RunResult) -> SaveWork:
        message = Message(id="m", role="assistant", parts=[{"type": "text", "text": outcome.text}])
        return lambda connection: store_answer(connection, "s", "local", message, Usage(7, 3))

    handle = await engine.start(SPEC, Job(talk, keep))
    await read_all(await engine.read(handle.run_id))
    session, tree = await sessions.open("s")
    assert (tree.get("m").text, session.usage.input_tokens) == ("one two three", 7)


async def test_the_answer_to_a_deleted_session_ends_for_its_readers(engine: Runs, database: Database) -> None:
    begun, gate = asyncio.Event(), asyncio.Event()

    async def work(context: RunContext) -> RunResult:
        await context.flush()  # nothing is left to be stored but the end
        begun.set()
        await gate.wait()
        return RunResult()

    handle = await engine.start(SPEC, Job(work))
    reader = await engine.read(handle.run_id)
    await begun.wait()
    await SessionStore(database).delete("s")
    gate.set()
    assert events_of(await read_all(reader))[-1].type == "run-end"


async def test_a_refused_run_leaves_nothing_of_its_opening(engine: Runs, database: Database) -> None:
    gate = asyncio.Event()

    async def work(context: RunContext) -> RunResult:
        await gate.wait()
        return RunResult()

    sessions = SessionStore(database)
    message = Message(id="m", parts=[{"type": "text", "text": "Hi"}])
    session = await sessions.get("s")
    handle = await engine.start(SPEC, Job(work))
    opening = Job(work, open=lambda connection: store_question(connection, session, message, "Hi"))
    with pytest.raises(ConflictError, match="'s' is busy"):
        await engine.start(SPEC, opening)
    assert len(await sessions.tree(session)) == 0
    gate.set()
    await handle.result()


@pytest.mark.parametrize(
    ("error", "described"),
    [
        (
            ModelError("no model", provider="x", hint="Start it."),
            {"type": "model_error", "message": "no model", "hint": "Start it."},
        ),
        (
            ZeroDivisionError("secret"),
            {"type": "internal_error", "message": "Internal server error. See the server log."},
        ),
    ],
)
async def test_a_failing_run_ends_with_an_error_and_closed_calls(
    engine: Runs, error: Exception, described: dict[str, str]
) -> None:
    kept: list[RunResult] = []

    async def work(context: RunContext) -> RunResult:
        context.emit(ToolInputEnd("c", "add", {}))
        raise error

    async def keep(context: RunContext, outcome: RunResult) -> None:
        assert isinstance(events_of(await context.history())[-1], ToolEnd)
        kept.append(outcome)

    handle = await engine.start(SPEC, Job(work, keep))
    assert (await handle.result()).error == described
    assert [outcome.reason for outcome in kept] == ["error"]
    ends = events_of(await read_all(await engine.read(handle.run_id)))[-2:]
    assert isinstance(ends[0], ToolEnd)
    assert ends[0].status == "interrupted"
    assert isinstance(ends[1], RunEnd)


async def test_cancel_reaches_the_work_and_unknown_or_ended_runs_are_named(engine: Runs) -> None:
    async def work(context: RunContext) -> RunResult:
        await context.cancel.now.wait()
        return RunResult(reason="cancelled")

    handle = await engine.start(SPEC, Job(work))
    await engine.cancel(handle.run_id)
    assert (await handle.result()).reason == "cancelled"
    with pytest.raises(ConflictError, match="cancelled"):
        await engine.cancel(handle.run_id)
    with pytest.raises(NotFoundError, match=r"Run 'nope' not found\."):
        await engine.cancel("nope")


async def test_an_ask_waits_for_its_one_answer(engine: Runs) -> None:
    async def work(context: RunContext) -> RunResult:
        return RunResult(data=await context.ask("approval", "c", {"tool": "delete"}, 60))

    handle = await engine.start(SPEC, Job(work))
    async with await engine.read(handle.run_id) as reader:
        request = None
        while not isinstance(request, AskRequest):
            request = events_of(await reader.next())[-1]
    (ask,) = await engine.asks.store.list_open("local")
    assert (ask.id, ask.call_id, ask.path) == (request.ask_id, "c", (handle.run_id,))
    with pytest.raises(NotFoundError, match=r"Ask '.+' not found\."):
        await engine.asks.answer(ask.id, {"approved": True}, owner="eve")
    await engine.asks.answer(ask.id, {"approved": True}, owner="local")
    assert (await handle.result()).value == {"approved": True}
    with pytest.raises(ConflictError):
        await engine.asks.answer(ask.id, {"approved": False}, owner="local")


async def test_an_ask_stored_but_not_sent_before_a_crash_is_sent_when_asked_again(
    engine: Runs,
) -> None:
    async def work(context: RunContext) -> RunResult:
        lost = AskRecord(
            id="ask",
            run_id=context.run_id,
            owner="local",
            path=context.run_path,
            kind="approval",
            call_id="c",
            payload={},
            timeout=PATIENCE,
        )
        await engine.asks.store.create(lost)
        context.journal.journal.is_resumed = True
        return RunResult(data=[lost.id, await context.ask("approval", "c", {}, 60)])

    handle = await engine.start(SPEC, Job(work))
    async with await engine.read(handle.run_id) as reader:
        request = None
        while not isinstance(request, AskRequest):
            request = events_of(await reader.next())[-1]
    await engine.asks.answer(request.ask_id, {"approved": True}, owner="local")
    assert (await handle.result()).value == [request.ask_id, {"approved": True}]


async def test_an_unanswered_ask_times_out(engine: Runs) -> None:
    async def work(context: RunContext) -> RunResult:
        return RunResult(data=await context.ask("browser", "c", {}, 0.01))

    handle = await engine.start(SPEC, Job(work))
    assert (await handle.result()).value == {"status": "timeout"}
    assert isinstance(events_of(await read_all(await engine.read(handle.run_id)))[-2], AskAnswer)
    assert await engine.asks.acknowledge("c", {"status": "success"}, owner="local") == "missing"


async def test_an_early_acknowledgement_is_kept_for_its_owner(engine: Runs) -> None:
    assert await engine.asks.acknowledge("c", {"status": "success"}, owner="eve") == "stored"
    assert await engine.asks.acknowledge("c", {"status": "failed"}, owner="local") == "stored"
    assert await engine.asks.acknowledge("c", {"status": "success"}, owner="local") == "missing"

    async def work(context: RunContext) -> RunResult:
        return RunResult(data=await context.ask("browser", "c", {}, 60))

    handle = await engine.start(SPEC, Job(work))
    assert (await handle.result()).value == {"status": "failed"}


async def test_of_calls_with_the_same_id_the_one_of_the_tab_is_acknowledged(engine: Runs) -> None:
    def ask_in(tab: str) -> Job:
        async def work(context: RunContext) -> RunResult:
            return RunResult(data=await context.ask("browser", "call_1", {"tab_id": tab}, 60))

        return Job(work)

    async def wait_for_ask(run_id: str) -> None:
        async with await engine.read(run_id) as reader:
            while "ask-request" not in [event.type for event in events_of(await reader.next())]:
                pass

    one, two = [await engine.start(RunSpec(agent="master"), ask_in(tab)) for tab in ("one", "two")]
    for handle in (one, two):
        await wait_for_ask(handle.run_id)
    acknowledge = partial(engine.asks.acknowledge, "call_1", owner="local")
    assert await acknowledge({"output": 1}, tab_id="one") == "resolved"
    assert await acknowledge({"output": 1}, tab_id="one") == "missing"  # sent again, as after a broken line
    assert await acknowledge({"output": 2}, tab_id="two") == "resolved"
    assert (await one.result()).value == {"output": 1}
    assert (await two.result()).value == {"output": 2}
    assert await acknowledge({"output": 3}, tab_id="two") == "missing"
    assert await acknowledge({"output": 3}, tab_id="three") == "stored"
    four = await engine.start(RunSpec(agent="master"), ask_in("four"))
    three = await engine.start(RunSpec(agent="master"), ask_in("three"))
    assert (await three.result()).value == {"output": 3}
    await wait_for_ask(four.run_id)
    (ask,) = await engine.asks.store.list_open("local")
    assert ask.payload == {"tab_id": "four"}
    await engine.asks.claim(ask.id, "five", owner="local")
    assert await acknowledge({"output": 5}, tab_id="five") == "resolved"
    assert (await four.result()).value == {"output": 5}


async def ask_browser_for_a_day(context: RunContext) -> RunResult:
    return RunResult(data=await context.ask("browser", "call_1", {}, 86_400.0))


async def start_browser_ask(engine: Runs) -> tuple[RunHandle, str]:
    """Start a run that waits for a browser; return it and the id of its ask."""
    handle = await engine.start(SPEC, Job(ask_browser_for_a_day))
    async with await engine.read(handle.run_id) as reader:
        while "ask-request" not in [event.type for event in events_of(await reader.next())]:
            pass
    (ask,) = await engine.asks.store.list_open("local")
    return handle, ask.id


async def test_a_tab_that_claimed_and_went_away_does_not_hold_the_run(
    engine: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dovetail.runs.asks.LOOK_SECONDS", 0.01)
    handle, ask_id = await start_browser_ask(engine)
    await engine.asks.claim(ask_id, "closed", owner="local", seconds=0.02)
    assert (await handle.result()).value == ABANDONED
    assert await engine.asks.store.list_open("local") == []


async def test_a_renewed_claim_keeps_the_call_and_a_tab_that_claims_after_its_end_gets_nothing(
    engine: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nothing looks at the claim between its end and its renewal.
    monkeypatch.setattr("dovetail.runs.asks.LOOK_SECONDS", 3600)
    handle, ask_id = await start_browser_ask(engine)
    await engine.asks.claim(ask_id, "slow", owner="local", seconds=0)
    await engine.asks.claim(ask_id, "slow", owner="local", seconds=60)
    with pytest.raises(ConflictError, match="is claimed by tab 'slow'"):
        await engine.asks.claim(ask_id, "other", owner="local")
    await engine.asks.claim(ask_id, "slow", owner="local", seconds=0)
    with pytest.raises(ConflictError, match="has already been answered"):
        await engine.asks.claim(ask_id, "other", owner="local")
    assert (await handle.result()).value == ABANDONED


async def test_a_call_that_no_tab_takes_fails_long_before_its_time_limit(
    engine: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dovetail.runs.asks.LOOK_SECONDS", 0.01)
    handle, _ = await start_browser_ask(engine)
    monkeypatch.setattr("dovetail.runs.asks.UNCLAIMED_SECONDS", 0.05)
    assert (await handle.result()).value == UNCLAIMED


async def test_a_run_left_behind_resumes_where_it_was(database: Database) -> None:
    reached = asyncio.Event()

    async def first(context: RunContext) -> RunResult:
        context.emit(ToolInputEnd("c", "add", {"a": 1}))
        context.emit(ToolStart("c", "read", "Add"))
        context.emit(ToolEnd("c", "ok", "2"))
        context.emit(TurnEnd(1, Usage(1, 1), "tool-calls"))
        context.emit(TextDeltaEvent("t", "half a sent"))
        await context.flush()
        reached.set()
        await asyncio.Event().wait()
        return RunResult()

    async with Runs(database) as engine:
        handle = await engine.start(SPEC, Job(first))
        await reached.wait()
    with pytest.raises(ConflictError, match="resumes after the next start"):
        await handle.result()

    async def second(context: RunContext) -> RunResult:
        done = replay(await context.history(), context.run_path)
        assert [message["role"] for message in done.messages] == ["assistant", "tool"]
        assert done.turns == 1
        return await talk(context)

    async def rebuild(record: RunRecord) -> Job:
        assert record.spec == SPEC
        return Job(second)

    async with Runs(database) as engine:
        engine.rebuild = rebuild
        await engine.recover()
        assert (await engine.result(handle.run_id)).value == "one two three"
        entries = await read_all(await engine.read(handle.run_id))
    kinds = [event.type for event in events_of(entries)]
    assert kinds[5:] == ["text-delta", "run-resume", "turn-reset", "text-delta", "turn-end", "run-end"]
    assert entries[-1].event == RunEnd("goal", "one two three", Usage(8, 4))


async def test_what_cannot_be_continued_ends_as_interrupted(database: Database) -> None:
    async def hang(context: RunContext) -> RunResult:
        context.emit(ToolInputEnd("c", "add", {}))
        context.emit(ToolStart("c", "write", "Add"))
        await asyncio.Event().wait()
        return RunResult()

    async def no_way(record: RunRecord) -> None:
        return None

    async with Runs(database) as engine:
        run_id = (await engine.start(SPEC, Job(hang))).run_id
        await asyncio.sleep(0)
    async with Runs(database) as engine:
        engine.rebuild = no_way
        await engine.recover()
        assert (await engine.result(run_id)).reason == "interrupted"
        statuses = [
            event.status
            for event in events_of(await read_all(await engine.read(run_id)))
            if isinstance(event, ToolEnd)
        ]
    assert statuses == ["interrupted"]


async def test_a_process_that_lost_its_run_stops_it_before_anything_happens(database: Database) -> None:
    go, effects = asyncio.Event(), list[str]()

    async def work(context: RunContext) -> RunResult:
        await go.wait()
        context.emit(ToolStart("c", "write", "Write"))
        await context.flush()
        effects.append("written twice")
        return RunResult()

    async with Runs(database) as old, Runs(database) as new:
        handle = await old.start(SPEC, Job(work))
        record = await old.get(handle.run_id)
        assert await new.store.take_over(record)
        go.set()
        assert await old.attempt(handle.run_id) == "left"
    assert effects == []


async def test_an_observer_sees_every_event_but_deltas(tmp_path: Path) -> None:
    seen: list[tuple[str, str, int]] = []

    async def work(context: RunContext) -> RunResult:
        context.emit(TextDeltaEvent("t", "a word"))
        context.emit(TextEnd("t"))
        return RunResult()

    async with Database(tmp_path / "x.db") as database, Runs(database) as engine:
        engine.observe(lambda live, event, path: seen.append((live.spec.agent, event.type, engine.running)))
        await (await engine.start(RunSpec(agent="master"), Job(work))).result()
    assert seen == [("master", "text-end", 1), ("master", "run-end", 1)]
