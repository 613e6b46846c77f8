"""Keeps sessions and their messages.

Promises: a caller sees only what belongs to its owner; every change is one transaction and makes the
session's version grow; a change that names an older version is refused.
"""

import time
from dataclasses import asdict
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from dovetail.errors import ConflictError, NotFoundError
from dovetail.messages.delta import Usage
from dovetail.sessions.message import Message
from dovetail.sessions.session import LOCAL_OWNER, Session, SessionPage
from dovetail.sessions.tree import MessageTree
from dovetail.store.database import Database
from dovetail.store.ids import new_id
from dovetail.store.tables import messages, sessions


class SessionStore:
    """Sessions in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def check(self) -> None:
        """See whether the database answers; a `StoreError` when it does not."""
        async with self._database.read() as connection:
            await connection.execute(sa.text("SELECT 1"))

    async def create(
        self, *, owner: str = LOCAL_OWNER, session_id: str | None = None, title: str = ""
    ) -> Session:
        """Make a new session; a taken id is a `ConflictError`."""
        now = time.time()
        session = Session(
            id=session_id or new_id("ses"),
            owner=owner,
            title=title,
            head_id=None,
            version=1,
            usage=Usage(),
            created_at=now,
            updated_at=now,
        )
        async with self._database.write() as connection:
            await connection.execute(sa.insert(sessions).values(asdict(session)))
        return session

    async def get(self, session_id: str, *, owner: str = LOCAL_OWNER) -> Session:
        """The session with this id."""
        async with self._database.read() as connection:
            return await _fetch(connection, session_id, owner)

    async def ensure(self, session_id: str | None, *, owner: str = LOCAL_OWNER) -> Session:
        """The session with this id, made now if there is none yet."""
        if session_id is None:
            return await self.create(owner=owner)
        try:
            return await self.get(session_id, owner=owner)
        except NotFoundError as missing:
            try:
                return await self.create(owner=owner, session_id=session_id)
            except ConflictError:
                raise missing from None

    async def page(
        self, *, owner: str = LOCAL_OWNER, query: str = "", cursor: str | None = None, limit: int = 50
    ) -> SessionPage:
        """Sessions whose title or messages hold `query`, the last changed first."""
        statement = sa.select(sessions).where(sessions.c.owner == owner)
        if query:
            statement = statement.where(_holds(query))
        if cursor:
            statement = statement.where(_is_before(cursor))
        order = (sessions.c.updated_at.desc(), sessions.c.id.desc())
        async with self._database.read() as connection:
            rows = (await connection.execute(statement.order_by(*order).limit(limit + 1))).mappings().all()
        found = [_read_session(row) for row in rows[:limit]]
        more = len(rows) > limit
        return SessionPage(found, f"{found[-1].updated_at!r}/{found[-1].id}" if more else None)

    async def tree(self, session: Session) -> MessageTree:
        """The session's messages."""
        async with self._database.read() as connection:
            return await _fetch_tree(connection, session)

    async def save_message(
        self, session_id: str, message: Message, *, owner: str = LOCAL_OWNER, usage: Usage | None = None
    ) -> None:
        """Add the message and move the head to it; saved again, it replaces what was there."""
        async with self._database.write() as connection:
            session = await _fetch(connection, session_id, owner)
            values = _message_values(session_id, message)
            same = (messages.c.session_id == session_id) & (messages.c.id == message.id)
            updated = await connection.execute(sa.update(messages).where(same).values(values))
            changes: dict[str, Any] = {}
            if not updated.rowcount:
                position = sa.select(sa.func.coalesce(sa.func.max(messages.c.position), 0) + 1)
                place = position.where(messages.c.session_id == session_id).scalar_subquery()
                await connection.execute(sa.insert(messages).values(**values, position=place))
                changes = {"head_id": message.id, "usage": asdict(session.usage + (usage or Usage()))}
            await _touch(connection, session, changes)

    async def update(
        self,
        session_id: str,
        *,
        owner: str = LOCAL_OWNER,
        title: str | None = None,
        head_id: str | None = None,
        version: int | None = None,
    ) -> Session:
        """Rename the session, or move its head to the newest leaf below a message."""
        changes: dict[str, Any] = {} if title is None else {"title": title}
        async with self._database.write() as connection:
            session = await _fetch(connection, session_id, owner)
            if version is not None and version != session.version:
                raise ConflictError(
                    f"session {session_id!r} has changed: it is at version {session.version}, not {version}",
                    hint="Read it again and repeat the change.",
                )
            if head_id is not None:
                changes["head_id"] = (await _fetch_tree(connection, session)).switch(head_id)
            await _touch(connection, session, changes)
            return await _fetch(connection, session_id, owner)

    async def remove_message(self, session_id: str, message_id: str, *, owner: str = LOCAL_OWNER) -> Session:
        """Remove a message and all below it."""
        async with self._database.write() as connection:
            session = await _fetch(connection, session_id, owner)
            tree = await _fetch_tree(connection, session)
            removed = tree.remove(message_id)
            gone = (messages.c.session_id == session_id) & messages.c.id.in_(removed)
            await connection.execute(sa.delete(messages).where(gone))
            await _touch(connection, session, {"head_id": tree.head})
            return await _fetch(connection, session_id, owner)

    async def delete(self, session_id: str, *, owner: str = LOCAL_OWNER) -> None:
        """Delete the session with all its messages."""
        async with self._database.write() as connection:
            session = await _fetch(connection, session_id, owner)
            await connection.execute(sa.delete(sessions).where(sessions.c.id == session.id))


async def _fetch(connection: AsyncConnection, session_id: str, owner: str) -> Session:
    wanted = (sessions.c.id == session_id) & (sessions.c.owner == owner)
    row = (await connection.execute(sa.select(sessions).where(wanted).with_for_update())).mappings().first()
    if row is None:
        raise NotFoundError(f"no session {session_id!r}")
    return _read_session(row)


async def _fetch_tree(connection: AsyncConnection, session: Session) -> MessageTree:
    statement = sa.select(messages).where(messages.c.session_id == session.id).order_by(messages.c.position)
    rows = (await connection.execute(statement)).mappings()
    return MessageTree((_read_message(row) for row in rows), session.head_id)


async def _touch(connection: AsyncConnection, session: Session, changes: dict[str, Any]) -> None:
    values = {**changes, "version": session.version + 1, "updated_at": time.time()}
    await connection.execute(sa.update(sessions).where(sessions.c.id == session.id).values(values))


def _holds(query: str) -> sa.ColumnElement[bool]:
    inside = sa.select(messages.c.id).where(
        messages.c.session_id == sessions.c.id,
        sa.cast(messages.c.parts, sa.Text).icontains(query, autoescape=True),
    )
    return sessions.c.title.icontains(query, autoescape=True) | inside.exists()


def _is_before(cursor: str) -> sa.ColumnElement[bool]:
    updated, _, session_id = cursor.partition("/")
    try:
        moment = float(updated)
    except ValueError:
        raise NotFoundError(f"no page {cursor!r}; take the cursor from the page before") from None
    return sa.tuple_(sessions.c.updated_at, sessions.c.id) < sa.tuple_(sa.literal(moment), session_id)


def _message_values(session_id: str, message: Message) -> dict[str, Any]:
    return {
        "session_id": session_id,
        "id": message.id,
        "parent_id": message.parent_id,
        "role": message.role,
        "parts": list(message.parts),
        "content": list(message.content),
        "metadata": dict(message.metadata),
        "created_at": message.created_at or time.time(),
    }


def _read_session(row: Any) -> Session:
    values: dict[str, Any] = {**row, "usage": Usage.read(row["usage"])}
    return Session(**values)


def _read_message(row: Any) -> Message:
    return Message(**{name: row[name] for name in Message.__dataclass_fields__})
