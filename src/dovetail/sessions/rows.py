"""Sessions and messages as rows: each function works on one connection, in the caller's transaction."""

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from itertools import pairwise
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from dovetail.data.shapes import is_mapping
from dovetail.errors import HeadMovedError, NotFoundError
from dovetail.events.call import ChatMessage
from dovetail.events.delta import Usage
from dovetail.runs.inbox import InboxMessage, refuse_overtaking, store_message
from dovetail.sessions.message import Message, MessageTree, Part, Session
from dovetail.store.tables import LONG_TEXT, messages, sessions, to_values

_below = sessions.alias("below")
_HAS_CHILDREN = (
    sa.select(sa.literal(1)).where(_below.c.parent_id == sessions.c.id).correlate(sessions).exists()
)
_SESSION = (
    sa.select(sessions, _HAS_CHILDREN.label("has_children"))
    .where(sessions.c.id == sa.bindparam("session"), sessions.c.owner == sa.bindparam("user"))
    .with_for_update(of=sessions)
)
_MESSAGES = (
    sa.select(messages).where(messages.c.session_id == sa.bindparam("session")).order_by(messages.c.position)
)
_OUTLINE = (
    sa.select(messages.c.id, messages.c.parent_id, messages.c.role)
    .where(messages.c.session_id == sa.bindparam("session"))
    .order_by(messages.c.position)
)
_SOME_MESSAGES = sa.select(messages).where(
    messages.c.session_id == sa.bindparam("session"), messages.c.id.in_(sa.bindparam("some", expanding=True))
)
_MANY = 500
"""From here on it is cheaper to read all messages of a session than to name those that are wanted."""
_PLACE = (
    sa.select(sa.func.coalesce(sa.func.max(messages.c.position), 0) + 1)
    .where(messages.c.session_id == sa.bindparam("session"))
    .scalar_subquery()
)
_INSERT_SESSION = sa.insert(sessions)
_INSERT_MESSAGE = sa.insert(messages).values(position=_PLACE)
_OF_MESSAGE = (messages.c.session_id == sa.bindparam("session")) & (messages.c.id == sa.bindparam("message"))
_HAS_MESSAGE = sa.select(messages.c.id).where(_OF_MESSAGE)
_REPLACE_MESSAGE = sa.update(messages).where(_OF_MESSAGE)
_TOUCH = sa.update(sessions).where(sessions.c.id == sa.bindparam("session"))


def insert_session(connection: sa.Connection, session: Session) -> None:
    """Store a new session; raise `NotFoundError` if the one that it is below is gone."""
    if session.parent_id is not None:
        fetch_session(connection, session.parent_id, session.owner)
    values = {**to_values(session), "usage": asdict(session.usage)}
    del values["has_children"]
    connection.execute(_INSERT_SESSION, values)


def fetch_session(connection: sa.Connection, session_id: str, owner: str) -> Session:
    """Return the session with this id, locked against other writers during a write."""
    row = connection.execute(_SESSION, {"session": session_id, "user": owner}).mappings().first()
    if row is None:
        raise NotFoundError(f"Session {session_id!r} not found.")
    return read_session(row)


def fetch_tree(connection: sa.Connection, session: Session) -> MessageTree:
    """Return the session's messages."""
    rows = connection.execute(_MESSAGES, {"session": session.id}).mappings()
    return MessageTree((_read_message(row) for row in rows), session.head_id)


def fetch_outline(connection: sa.Connection, session: Session) -> MessageTree:
    """Return the session's messages without their parts and contents."""
    rows = connection.execute(_OUTLINE, {"session": session.id}).mappings()
    return MessageTree((Message(**row) for row in rows), session.head_id)


def fetch_messages(connection: sa.Connection, session: Session, ids: Sequence[str]) -> list[Message]:
    """Return these messages of the session, in this order."""
    statement, wanted = (_MESSAGES, {}) if len(ids) > _MANY else (_SOME_MESSAGES, {"some": list(ids)})
    rows = connection.execute(statement, {"session": session.id, **wanted}).mappings()
    found = {row["id"]: _read_message(row) for row in rows}
    return [found[message_id] for message_id in ids if message_id in found]


def insert_message(connection: sa.Connection, session_id: str, message: Message) -> None:
    """Add a message after all others."""
    values = {**_message_values(message), "session_id": session_id, "session": session_id}
    connection.execute(_INSERT_MESSAGE, values)


def save_message(
    connection: sa.Connection, session: Session, message: Message, changes: dict[str, Any]
) -> None:
    """Add the message, move the head to it and change the session; a message saved again is replaced."""
    key = {"session": session.id, "message": message.id}
    if connection.execute(_HAS_MESSAGE, key).first() is not None:
        connection.execute(_REPLACE_MESSAGE, {**key, **_message_values(message)})
        touch(connection, session, {})
        return
    insert_message(connection, session.id, message)
    touch(connection, session, {"head_id": message.id, **changes})


def check_turn(connection: sa.Connection, session: Session, *, at_head: bool, is_next: bool) -> None:
    """Check that a run may begin in a session that was read before: it overtakes no message that waits.

    With `at_head` it follows the head; with `is_next` it answers the message whose turn it is.

    Raises:
        ConflictError: messages wait.
        HeadMovedError: the head is another one than when the session was read.
    """
    current = fetch_session(connection, session.id, session.owner)
    if not is_next:
        refuse_overtaking(connection, session.id)
    if at_head and current.head_id != session.head_id:
        raise HeadMovedError(f"Session {session.id!r} has a new head: {current.head_id!r}.")


def store_question(connection: sa.Connection, session: Session, message: Message, title: str) -> None:
    """Store a user's message, and its session if that is new."""
    if session.version:
        current = fetch_session(connection, session.id, session.owner)
        save_message(connection, current, message, {"title": current.title or title})
        return
    try:
        insert_session(connection, replace(session, title=title, head_id=message.id, version=1))
    except IntegrityError:
        raise NotFoundError(f"Session {session.id!r} not found.") from None  # it belongs to another owner
    insert_message(connection, session.id, message)


def store_answer(
    connection: sa.Connection, session_id: str, owner: str, message: Message, usage: Usage
) -> None:
    """Store an answer and count its usage, once; the head stays where it was moved to in the meantime."""
    session = fetch_session(connection, session_id, owner)
    changes: dict[str, Any] = {"usage": asdict(session.usage + usage)}
    if _has_left(connection, session, message.parent_id):
        changes["head_id"] = session.head_id
    save_message(connection, session, message, changes)


def _has_left(connection: sa.Connection, session: Session, question_id: str | None) -> bool:
    """Return whether the conversation continues in another branch than that of a question."""
    if question_id is None or session.head_id in (None, question_id):
        return False
    return all(message.id != question_id for message in fetch_outline(connection, session).path())


def store_notice(connection: sa.Connection, session: Session, run_id: str, text: str) -> None:
    """Put the notice of a task's end into the inbox of the session above it, if that still exists."""
    data = {"task_id": session.id, "run_id": run_id, "agent": session.agent}
    notice = InboxMessage(
        session_id=session.parent_id or "",
        owner=session.owner,
        kind="notice",
        parts=[{"type": "text", "text": text}, {"type": "data-task", "data": data}],
        content=[{"role": "user", "content": text}],
    )
    with suppress(NotFoundError):
        store_message(connection, notice)


def touch(connection: sa.Connection, session: Session, changes: dict[str, Any]) -> None:
    """Change the session and increment its version."""
    values = {"updated_at": time.time(), **changes, "version": session.version + 1}
    connection.execute(_TOUCH, {**values, "session": session.id})


def read_session(row: Any) -> Session:
    """Return the session that a row holds."""
    values: dict[str, Any] = {**row, "usage": Usage.read(row["usage"])}
    return Session(**values)


def _message_values(message: Message) -> dict[str, Any]:
    return {
        "id": message.id,
        "parent_id": message.parent_id,
        "role": message.role,
        "parts": list(message.parts),
        "content": _share_texts(message),
        "metadata": dict(message.metadata),
        "created_at": message.created_at or time.time(),
    }


def _read_message(row: Any) -> Message:
    values = {name: row[name] for name in Message.__dataclass_fields__}
    values["content"] = [_restore_text(message, row["parts"]) for message in row["content"]]
    return Message(**values)


def _share_texts(message: Message) -> list[ChatMessage]:
    """Return the content with `{"parts": [places]}` for its long texts that the parts hold, too."""
    texts = dict(_find_texts(message.parts))
    found = [(each, None if each["role"] == "tool" else each.get("content")) for each in message.content]
    return [
        {**each, "content": {"parts": texts[text]}} if isinstance(text, str) and text in texts else each
        for each, text in found
    ]


def _find_texts(parts: Sequence[Part]) -> Iterator[tuple[str, list[int]]]:
    """Yield the long texts of steps, each with the places of the parts that it consists of."""
    starts = [place for place, part in enumerate(parts) if part.get("type") == "step-start"]
    for start, end in pairwise([0, *starts, len(parts)]):
        places = [place for place in range(start, end) if parts[place].get("type") == "text"]
        text = _join(parts, places)
        if len(text) >= LONG_TEXT:
            yield text, places


def _restore_text(message: ChatMessage, parts: Sequence[Part]) -> ChatMessage:
    content = message.get("content")
    if message["role"] == "tool" or not is_mapping(content) or "parts" not in content:
        return message
    return {**message, "content": _join(parts, content["parts"])}


def _join(parts: Sequence[Part], places: Sequence[int]) -> str:
    return "".join(str(parts[place].get("text", "")) for place in places)
