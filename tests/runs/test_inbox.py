"""Messages to runs: each is taken or answered exactly once, also when processes die in between."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from dovetail.errors import ConflictError
from dovetail.events.model_events import TextStart
from dovetail.events.run_context import RunContext
from dovetail.events.run_events import UserMessage
from dovetail.events.run_result import RunResult
from dovetail.runs import inbox as inbox_module
from dovetail.runs.inbox import InboxMessage, MessageKind, remove_answered, store_message
from dovetail.runs.run import RunHandle, RunRecord, RunSpec
from dovetail.runs.service import Runs
from dovetail.sessions.rows import fetch_session
from dovetail.sessions.store import SessionStore
from dovetail.store.database import Database
from jobs import Job
from patience import PATIENCE
from postgres import make_database, uses_postgres

SPEC = RunSpec(agent="master", session_id="s")
_WAITERS = sa.text(
    "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=uses_postgres)])
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> str | Path:
    return tmp_path / "x.db" if request.param == "sqlite" else await make_database()


@pytest.fixture
async def database(url: str | Path) -> AsyncIterator[Database]:
    async with Database(url) as database:
        await SessionStore(database).create(session_id="s")
        yield database


@pytest.fixture
async def engine(database: Database) -> AsyncIterator[Runs]:
    async with Runs(database) as engine:
        yield engine


def write(text: str, run_id: str | None = None, kind: MessageKind = "steer") -> InboxMessage:
    return InboxMessage(
        session_id="s",
        owner="local",
        kind=kind,
        parts=[{"type": "text", "text": text}],
        content=[{"role": "user", "content": text}],
        run_id=run_id,
    )


async def take(context: RunContext) -> list[str]:
    """Take messages as a loop does; return their texts."""
    assert context.inbox is not None
    taken = await context.inbox.take()
    for message in taken:
        context.emit(message)
    return [str(message.parts[0]["text"]) for message in taken]


class Paused:
    """Work that waits at a gate, then takes its messages."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.had_mail: list[bool] = []
        self.taken: list[str] = []

    async def __call__(self, context: RunContext) -> RunResult:
        assert context.inbox is not None
        self.had_mail.append(context.inbox.has_mail)
        await self.gate.wait()
        self.had_mail.append(context.inbox.has_mail)
        self.taken += await take(context)
        self.had_mail.append(context.inbox.has_mail)
        return RunResult(text="done")


async def start(engine: Runs, work: Callable[[RunContext], Awaitable[RunResult]]) -> RunHandle:
    return await engine.start(SPEC, Job(work))


def note_in(free: list[str]) -> Callable[[str], Coroutine[Any, Any, None]]:
    async def note(session_id: str) -> None:
        free.append(session_id)

    return note


async def list_texts(engine: Runs) -> list[tuple[str, str]]:
    return [(message.kind, message.parts[0]["text"]) for message in await engine.inbox.list("s")]


async def test_a_message_is_taken_in_order_and_then_gone(engine: Runs) -> None:
    work = Paused()
    handle = await start(engine, work)
    for text in ("one", "two"):
        sent, running = await engine.inbox.send(write(text, handle.run_id))
        assert (sent.kind, running) == ("steer", handle.run_id)
    assert await list_texts(engine) == [("steer", "one"), ("steer", "two")]
    work.gate.set()
    await handle.result()
    assert (work.taken, work.had_mail) == (["one", "two"], [False, True, False])
    assert await list_texts(engine) == []
    events = [entry.event for entry in await engine.history(handle.run_id)]
    stored = [event for event in events if isinstance(event, UserMessage)]
    assert [event.content[0]["content"] for event in stored] == ["one", "two"]


async def test_a_message_is_taken_once_even_before_its_event_is_stored(engine: Runs) -> None:
    taken: list[list[str]] = []

    async def work(context: RunContext) -> RunResult:
        await engine.inbox.send(write("one", context.run_id))
        taken.append(await take(context))
        await engine.inbox.send(write("two", context.run_id))
        taken.append(await take(context))
        return RunResult(text="done")

    await (await start(engine, work)).result()
    assert taken == [["one"], ["two"]]
    assert await list_texts(engine) == []


async def test_a_run_without_messages_reads_none(engine: Runs) -> None:
    work = Paused()
    work.gate.set()
    await (await start(engine, work)).result()
    assert work.had_mail == [False, False, False]


async def test_what_a_run_does_not_take_is_queued_when_it_ends(engine: Runs) -> None:
    free: list[str] = []
    engine.inbox.answer_next = note_in(free)

    async def work(context: RunContext) -> RunResult:
        await engine.inbox.send(write("steer", context.run_id))
        await engine.inbox.send(write("queue", context.run_id, "queue"))
        await engine.inbox.send(write("notice", None, "notice"))
        return RunResult(text="done")

    await (await start(engine, work)).result()
    await asyncio.sleep(0)
    assert await list_texts(engine) == [("queue", "steer"), ("queue", "queue"), ("notice", "notice")]
    assert free == ["s"]
    assert await engine.inbox.find_sessions() == ["s"]
    following = await engine.inbox.find_next("s")
    assert following is not None
    assert following.parts[0]["text"] == "steer"


async def test_a_message_to_a_run_that_has_ended_is_queued(engine: Runs) -> None:
    async def work(context: RunContext) -> RunResult:
        return RunResult(text="done")

    handle = await start(engine, work)
    await handle.result()
    sent, running = await engine.inbox.send(write("late", handle.run_id))
    assert (sent.kind, running) == ("queue", None)
    assert await list_texts(engine) == [("queue", "late")]


async def test_a_message_to_a_run_that_has_ended_waits_for_the_next_one(engine: Runs) -> None:
    free: list[str] = []
    engine.inbox.answer_next = note_in(free)

    async def nothing(context: RunContext) -> RunResult:
        return RunResult(text="done")

    first = await start(engine, nothing)
    await first.result()
    work = Paused()
    second = await start(engine, work)
    sent, running = await engine.inbox.send(write("late", first.run_id))
    assert (sent.kind, running) == ("queue", second.run_id)
    work.gate.set()
    await second.result()
    await asyncio.sleep(0)
    assert (work.taken, free) == ([], ["s"])


async def test_a_notice_to_an_idle_session_is_taken_by_its_next_run(engine: Runs) -> None:
    await engine.inbox.send(write("ready", None, "notice"))
    assert await engine.inbox.find_sessions() == []
    work = Paused()
    work.gate.set()
    await (await start(engine, work)).result()
    assert (work.taken, work.had_mail[0]) == (["ready"], True)
    assert await list_texts(engine) == []


async def test_a_notice_that_is_stored_in_a_transaction_is_seen_without_news(
    engine: Runs, database: Database
) -> None:
    seen: list[bool] = []

    async def work(context: RunContext) -> RunResult:
        await database.write(lambda connection: store_message(connection, write("ready", None, "notice")))
        assert context.inbox is not None
        seen.append(context.inbox.has_mail)
        await context.flush()
        seen.append(context.inbox.has_mail)
        await take(context)
        return RunResult(text="done")

    await (await start(engine, work)).result()
    assert seen == [False, True]


async def test_a_message_is_deleted_only_before_it_is_taken(engine: Runs) -> None:
    results: list[bool] = []

    async def work(context: RunContext) -> RunResult:
        sent, _ = await engine.inbox.send(write("one", context.run_id))
        results.append(await engine.inbox.remove("s", sent.id))
        sent, _ = await engine.inbox.send(write("two", context.run_id))
        results.append(await engine.inbox.remove("other", sent.id))
        assert context.inbox is not None
        taken = await context.inbox.take()
        results.append(await engine.inbox.remove("s", sent.id))
        results.append([message.message_id for message in taken] == [sent.id])
        for message in taken:
            context.emit(message)
        return RunResult(text="done")

    await (await start(engine, work)).result()
    assert results == [True, False, False, True]


async def test_a_message_with_an_id_of_its_sender_is_stored_once(engine: Runs) -> None:
    kinds: list[str] = []

    async def work(context: RunContext) -> RunResult:
        named = dataclasses.replace(write("one", context.run_id), id="chosen")
        both = await asyncio.gather(*(engine.inbox.send(named, is_named=True) for _ in range(5)))
        assert await list_texts(engine) == [("steer", "one")]
        assert await take(context) == ["one"]
        context.emit(TextStart("t"))
        again, _ = await engine.inbox.send(named, is_named=True)
        kinds.extend(sent.kind for sent in (*(sent for sent, _ in both), again))
        return RunResult(text="done")

    await (await start(engine, work)).result()
    assert kinds == ["steer"] * 6
    named = dataclasses.replace(write("one", "r"), id="chosen")
    late, _ = await engine.inbox.send(named, is_named=True)  # its event is in the journal by now
    assert (late.kind, await list_texts(engine)) == ("steer", [])
    assert await engine.inbox.was_sent("s", "chosen")
    assert not await engine.inbox.was_sent("s", "other")
    assert not await engine.inbox.was_sent("elsewhere", "chosen")


async def test_the_same_id_in_two_sessions_is_two_messages(engine: Runs) -> None:
    await SessionStore(engine.database).create(owner="eve", session_id="t")
    mine = dataclasses.replace(write("mine", kind="queue"), id="dup-1")
    hers = dataclasses.replace(write("hers", kind="queue"), id="dup-1", session_id="t", owner="eve")
    for message in (hers, mine):
        await engine.inbox.send(message, is_named=True)
    assert await list_texts(engine) == [("queue", "mine")]
    await engine.database.write(lambda transaction: remove_answered(transaction, "s", "dup-1"))
    assert await list_texts(engine) == []
    assert [message.id for message in await engine.inbox.list("t")] == ["dup-1"]


async def test_taking_a_message_leaves_the_one_with_its_id_elsewhere(engine: Runs) -> None:
    await SessionStore(engine.database).create(owner="eve", session_id="t")
    hers = dataclasses.replace(write("hers", kind="queue"), id="dup-1", session_id="t", owner="eve")
    await engine.inbox.send(hers, is_named=True)
    work = Paused()
    handle = await start(engine, work)
    mine = dataclasses.replace(write("mine", handle.run_id), id="dup-1")
    await engine.inbox.send(mine, is_named=True)
    work.gate.set()
    await handle.result()
    assert (work.taken, await list_texts(engine)) == (["mine"], [])
    assert [message.id for message in await engine.inbox.list("t")] == ["dup-1"]


async def test_a_message_that_was_taken_but_not_stored_is_taken_again_after_a_crash(
    url: str | Path, database: Database
) -> None:
    taken: list[str] = []

    async def die(context: RunContext) -> RunResult:
        await here.inbox.send(write("one", context.run_id))
        await take(context)
        await context.flush()
        await here.inbox.send(write("two", context.run_id))
        assert context.inbox is not None
        await context.inbox.take()  # and never emitted, as if the process died here
        dead.set()
        await asyncio.Event().wait()
        raise AssertionError

    async def resume(context: RunContext) -> RunResult:
        assert context.inbox is not None
        assert context.inbox.has_mail
        taken.extend(await take(context))
        return RunResult(text="done")

    async def rebuild(record: RunRecord) -> Job:
        return Job(resume)

    dead = asyncio.Event()
    async with Runs(database) as here:
        run_id = (await start(here, die)).run_id
        await dead.wait()
    async with Database(url) as again, Runs(again) as there:
        there.rebuild = rebuild
        await there.recover()
        await there.result(run_id)
        assert taken == ["two"]
        assert await list_texts(there) == []
        events = [entry.event for entry in await there.history(run_id)]
        assert [event.parts[0]["text"] for event in events if isinstance(event, UserMessage)] == [
            "one",
            "two",
        ]


async def test_exactly_one_run_answers_a_queued_message(engine: Runs) -> None:
    sent, _ = await engine.inbox.send(write("next", None, "queue"))

    async def work(context: RunContext) -> RunResult:
        return RunResult(text="done")

    async def answer() -> bool:
        try:
            job = Job(work, open=lambda transaction: remove_answered(transaction, "s", sent.id))
            await (await engine.start(SPEC, job)).result()
            return True
        except ConflictError:
            return False

    assert sorted(await asyncio.gather(*(answer() for _ in range(5)))) == [False] * 4 + [True]
    assert await list_texts(engine) == []


async def test_nothing_is_lost_when_messages_and_the_end_of_their_run_race(engine: Runs) -> None:
    taken: list[str] = []
    gate = asyncio.Event()

    async def work(context: RunContext) -> RunResult:
        await gate.wait()
        taken.extend(await take(context))
        return RunResult(text="done")

    for round_number in range(20):
        gate.clear()
        handle = await start(engine, work)
        gate.set()
        texts = [f"{round_number}-{number}" for number in range(4)]
        await asyncio.gather(*(engine.inbox.send(write(text, handle.run_id)) for text in texts))
        await handle.result()
        queued = [text for _, text in await list_texts(engine)]
        assert sorted([*taken, *queued]) == texts
        taken.clear()
        await engine.inbox.remove("s")


async def test_the_number_of_messages_that_wait_in_a_session_is_limited(
    engine: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox_module, "MOST_WAITING", 2)
    for _ in range(2):
        await engine.inbox.send(write("more", None, "queue"))
    with pytest.raises(ConflictError, match="2 messages"):
        await engine.inbox.send(write("more", None, "queue"))


@pytest.mark.slow
async def test_a_message_sent_to_another_process_reaches_the_run() -> None:
    address: Any = await make_database()
    async with Database(address) as one, Database(address) as other:
        await SessionStore(one).create(session_id="s")
        async with Runs(one) as here, Runs(other) as there:
            heard, taken = asyncio.Event(), list[str]()
            react = here.link.on_news

            def hear(kind: str, subject: str) -> None:
                react(kind, subject)
                if kind == "message":
                    heard.set()

            here.link.on_news = hear

            async def work(context: RunContext) -> RunResult:
                await heard.wait()
                assert context.inbox is not None
                assert context.inbox.has_mail
                taken.extend(await take(context))
                return RunResult(text="done")

            handle = await start(here, work)
            sent, running = await there.inbox.send(write("from afar", handle.run_id))
            assert (sent.kind, running) == ("steer", handle.run_id)
            async with asyncio.timeout(PATIENCE):
                await handle.result()
            assert taken == ["from afar"]


@pytest.mark.slow
async def test_a_message_and_a_new_run_in_the_same_session_do_not_wait_for_each_other() -> None:
    address: Any = await make_database()
    async with Database(address) as one, Database(address) as other:
        await SessionStore(one).create(session_id="s")
        async with Runs(one) as engine:
            busy = Paused()
            handle = await start(engine, busy)
            attempts: list[str] = []
            has_session = asyncio.Event()

            def store(connection: sa.Connection) -> None:
                attempts.append("message")
                store_message(connection, write("hello", handle.run_id))

            def begin(connection: sa.Connection) -> None:
                attempts.append("run")
                fetch_session(connection, "s", "local")
                has_session.set()
                while not connection.scalar(_WAITERS):
                    connection.execute(sa.text("SELECT pg_sleep(0.01)"))

            creating = asyncio.create_task(engine.store.create("run_2", SPEC, begin))
            await has_session.wait()
            async with asyncio.timeout(PATIENCE):
                await other.write(store)
                with pytest.raises(ConflictError):
                    await creating
            assert sorted(attempts) == ["message", "run"]
            busy.gate.set()
            await handle.result()
            assert busy.taken == ["hello"]
