"""Shared links of sessions."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from dovetail.errors import InvalidDataError, NotFoundError
from dovetail.sessions.message import Message
from dovetail.sessions.store import SessionStore
from dovetail.store.database import Database
from postgres import make_database, uses_postgres

CALL = {
    "type": "dynamic-tool",
    "toolName": "read",
    "toolCallId": "c",
    "state": "output-available",
    "input": {"path": "a"},
    "output": "secret file",
    "callProviderMetadata": {"x": "signature"},
    "toolMetadata": {"kind": "read", "status": "ok", "duration": 3.5},
}
THOUGHT = {"type": "reasoning", "text": "thought"}


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=uses_postgres)])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SessionStore]:
    url = tmp_path / "x.db" if request.param == "sqlite" else await make_database()
    async with Database(url) as database:
        yield SessionStore(database)


def say(message_id: str, text: str, parent_id: str | None = None, *more: dict[str, Any]) -> Message:
    parts = [*more, {"type": "text", "text": text}]
    return Message(id=message_id, parent_id=parent_id, parts=parts, metadata={"run_id": "run_1"})


async def make_chat(store: SessionStore) -> str:
    session = await store.create(owner="ann", title="Oak")
    await store.save_message(session.id, say("q", "Hard?"), owner="ann")
    await store.save_message(session.id, say("a", "Yes.", "q", THOUGHT, CALL), owner="ann")
    return session.id


async def test_link_shows_the_talk_and_nothing_of_how_it_came_about(store: SessionStore) -> None:
    share = await store.shares.create(await make_chat(store), owner="ann")
    shared = await store.shares.open(share.token)
    assert shared.title == "Oak"
    assert [[part["type"] for part in message.parts] for message in shared.messages] == [["text"], ["text"]]
    assert not any(message.metadata for message in shared.messages)


async def test_link_with_the_work_shows_calls_but_no_reasoning(store: SessionStore) -> None:
    share = await store.shares.create(await make_chat(store), owner="ann", with_work=True)
    answer = (await store.shares.open(share.token)).messages[1]
    assert [part["type"] for part in answer.parts] == ["dynamic-tool", "text"]
    assert "callProviderMetadata" not in answer.parts[0]
    assert answer.parts[0]["toolMetadata"] == {"kind": "read"}


async def test_later_messages_are_not_part_of_a_link(store: SessionStore) -> None:
    session_id = await make_chat(store)
    share = await store.shares.create(session_id, owner="ann")
    await store.save_message(session_id, say("later", "A secret.", "a"), owner="ann")
    assert [message.id for message in (await store.shares.open(share.token)).messages] == ["q", "a"]


async def test_revoked_link_shows_nothing_and_only_its_owner_can_revoke_it(store: SessionStore) -> None:
    session_id = await make_chat(store)
    share = await store.shares.create(session_id, owner="ann")
    with pytest.raises(NotFoundError):
        await store.shares.revoke(share.token, owner="bob")
    assert await store.shares.list(session_id, owner="bob") == []
    assert [each.token for each in await store.shares.list(session_id, owner="ann")] == [share.token]
    await store.shares.revoke(share.token, owner="ann")
    with pytest.raises(NotFoundError):
        await store.shares.open(share.token)


async def test_deleted_messages_and_sessions_are_not_shown(store: SessionStore) -> None:
    session_id = await make_chat(store)
    share = await store.shares.create(session_id, owner="ann")
    await store.remove_message(session_id, "a", owner="ann")
    with pytest.raises(NotFoundError, match="were deleted"):
        await store.shares.open(share.token)
    await store.delete(session_id, owner="ann")
    with pytest.raises(NotFoundError):
        await store.shares.open(share.token)


async def test_session_of_another_owner_and_an_empty_one_cannot_be_shared(store: SessionStore) -> None:
    with pytest.raises(NotFoundError):
        await store.shares.create(await make_chat(store), owner="bob")
    with pytest.raises(InvalidDataError, match="no messages to share"):
        await store.shares.create((await store.create(owner="ann")).id, owner="ann")
