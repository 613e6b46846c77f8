"""Sessions and their messages in a database."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from dovetail.errors import ConflictError, NotFoundError
from dovetail.events.delta import Usage
from dovetail.sessions.message import Message, Stretch, make_session, make_title
from dovetail.sessions.rows import insert_session
from dovetail.sessions.store import SessionStore
from dovetail.store.database import Database
from dovetail.store.tables import messages
from postgres import make_database, uses_postgres


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=uses_postgres)])
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "x.db") if request.param == "sqlite" else await make_database()


@pytest.fixture
async def store(url: str) -> AsyncIterator[SessionStore]:
    async with Database(url) as database:
        yield SessionStore(database)


def say(message_id: str, text: str, parent_id: str | None = None) -> Message:
    return Message(
        id=message_id,
        parent_id=parent_id,
        parts=[{"type": "text", "text": text}],
        content=[{"role": "user", "content": text}],
        created_at=1.0,
    )


async def test_messages_come_back_as_a_tree(store: SessionStore) -> None:
    session = await store.create()
    await store.save_message(session.id, say("a", "one"))
    await store.save_message(session.id, say("b", "two", "a"), usage=Usage(3, 4))
    session = await store.get(session.id)
    tree = await store.tree(session)
    assert tree.path() == [say("a", "one"), say("b", "two", "a")]
    assert (session.head_id, session.version, session.usage) == ("b", 3, Usage(3, 4))


async def test_a_message_saved_again_is_replaced_and_counted_once(store: SessionStore) -> None:
    session = await store.create()
    await store.save_message(session.id, say("a", "one"), usage=Usage(1, 1))
    await store.save_message(session.id, say("b", "two", "a"))
    await store.save_message(session.id, say("a", "uno"), usage=Usage(1, 1))
    session = await store.get(session.id)
    assert [message.text for message in (await store.tree(session)).path()] == ["uno", "two"]
    assert session.usage == Usage(1, 1)


async def test_a_long_text_is_stored_once_for_people_and_the_model(url: str) -> None:
    first, second, result = "one " * 1000, "two " * 1000, "res " * 1000
    call = {"type": "dynamic-tool", "toolCallId": "c", "output": "short"}
    answer = Message(
        id="a",
        role="assistant",
        parts=[
            {"type": "step-start"},
            {"type": "text", "text": first},
            {"type": "text", "text": second},
            call,
            {"type": "step-start"},
            {"type": "text", "text": second},
        ],
        content=[
            {"role": "assistant", "content": first + second, "tool_calls": []},
            {"role": "tool", "tool_call_id": "c", "content": result},
            {"role": "user", "content": [{"type": "text", "text": "With a picture."}]},
            {"role": "assistant", "content": second, "provider_parts": [{"type": "x"}]},
        ],
        created_at=1.0,
    )
    async with Database(url) as database:
        store = SessionStore(database)
        session = await store.add([answer])
        stored = await database.read(lambda connection: connection.scalar(sa.select(messages.c.content)))
        path = (await store.tree(session)).path()
    assert path == [answer]
    assert [each["content"] for each in stored or ()] == [
        {"parts": [1, 2]},
        result,
        [{"type": "text", "text": "With a picture."}],
        {"parts": [5]},
    ]


async def test_head_moves_to_the_newest_leaf_of_a_branch(store: SessionStore) -> None:
    session = await store.create()
    for message in (say("a", "1"), say("b", "2", "a"), say("c", "3", "b"), say("d", "4", "a")):
        await store.save_message(session.id, message)
    assert (await store.update(session.id, head_id="b")).head_id == "c"
    assert (await store.remove_message(session.id, "b")).head_id == "d"
    assert len(await store.tree(await store.get(session.id))) == 2


async def test_a_change_of_an_older_version_is_refused(store: SessionStore) -> None:
    session = await store.create(title="old")
    await store.update(session.id, title="new", version=1)
    with pytest.raises(ConflictError, match="version 2, not 1"):
        await store.update(session.id, title="newer", version=1)
    assert (await store.get(session.id)).title == "new"


async def test_nothing_of_another_owner_is_seen(store: SessionStore) -> None:
    session = await store.create(owner="ann", title="secret")
    await store.save_message(session.id, say("a", "one"), owner="ann")
    for attempt in (
        store.get(session.id, owner="bob"),
        store.update(session.id, title="mine", owner="bob"),
        store.remove_message(session.id, "a", owner="bob"),
        store.save_message(session.id, say("x", "x"), owner="bob"),
        store.delete(session.id, owner="bob"),
    ):
        with pytest.raises(NotFoundError, match=session.id):
            await attempt
    assert (await store.page(owner="bob")).sessions == []
    assert (await store.page(owner="bob", query="secret")).sessions == []


async def test_pages_hold_every_session_once_newest_first(store: SessionStore) -> None:
    made = [(await store.create(title=f"n{number}")).id for number in range(7)]
    seen: list[str] = []
    cursor = None
    while True:
        page = await store.page(limit=3, cursor=cursor)
        seen += [session.id for session in page.sessions]
        cursor = page.cursor
        if cursor is None:
            break
    assert seen == made[::-1]
    with pytest.raises(NotFoundError, match="'nonsense'"):
        await store.page(cursor="nonsense")


async def test_search_finds_titles_and_texts_literally(store: SessionStore) -> None:
    first = await store.create(title="Holiday 100%")
    second = await store.create(title="Work")
    await store.save_message(second.id, say("a", "Ich fahre nach München, 北京"))
    for query, found in {
        "100%": first,
        "münchen": second,
        "München": second,
        "北京": second,
        "w_rk": None,
    }.items():
        page = await store.page(query=query)
        assert [session.id for session in page.sessions] == ([found.id] if found else []), query


async def test_messages_added_at_once_are_all_kept(store: SessionStore) -> None:
    session = await store.create()
    await asyncio.gather(*(store.save_message(session.id, say(f"m{n}", str(n))) for n in range(10)))
    assert len(await store.tree(await store.get(session.id))) == 10


async def test_deleted_session_is_gone_with_its_messages(store: SessionStore) -> None:
    await store.create(session_id="again")
    await store.save_message("again", say("a", "one"))
    await store.delete("again")
    with pytest.raises(NotFoundError):
        await store.get("again")
    session = await store.create(session_id="again")
    assert len(await store.tree(session)) == 0


def test_title_is_the_beginning_of_the_text() -> None:
    assert make_title("  Plan\n\na  trip \x00to Rome ") == "Plan a trip to Rome"
    assert make_title("word " * 30) == "word word word word word word word word word word word word…"
    assert make_title("字" * 100) == "字" * 60 + "…"
    assert make_title("") == ""


async def test_newest_part_of_a_path_is_read_with_the_number_of_older_messages(store: SessionStore) -> None:
    session = await store.create()
    for number in range(6):
        await store.save_message(session.id, say(f"m{number}", "x", f"m{number - 1}" if number else None))
    session = await store.get(session.id)
    _, older, newest = await store.stretch(session, Stretch(limit=2))
    assert (older, [message.id for message in newest]) == (4, ["m4", "m5"])
    _, older, earlier = await store.stretch(session, Stretch(limit=2, before="m4"))
    assert (older, [message.id for message in earlier]) == (2, ["m2", "m3"])
    assert earlier[0].text == "x"


async def test_all_sessions_above_one_are_found_from_the_top(store: SessionStore, url: str) -> None:
    async with Database(url) as database:
        for name, parent in (("top", None), ("task", "top"), ("below", "task")):
            session = dataclasses.replace(make_session("local", name), parent_id=parent)
            await database.write(lambda connection, new=session: insert_session(connection, new))
    assert await store.find_ancestors(["below", "top"]) == {"below": ["top", "task"], "top": []}
