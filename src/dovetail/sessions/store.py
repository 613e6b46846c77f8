"""The store of sessions and their messages.

Promises: a caller sees only what belongs to its owner; every change is one transaction and increments the
session's version; a change that names an older version is rejected.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from dovetail.data.shapes import read_number
from dovetail.errors import ConflictError, NotFoundError
from dovetail.events.delta import Usage
from dovetail.sessions.message import (
    Message,
    MessageTree,
    Session,
    SessionPage,
    check_tree,
    make_session,
)
from dovetail.sessions.rows import (
    fetch_session,
    fetch_tree,
    insert_message,
    insert_session,
    read_session,
    store_answer,
    touch,
)
from dovetail.settings import LOCAL_OWNER
from dovetail.store.database import Database
from dovetail.store.tables import messages, runs, sessions


class SessionStore:
    """Sessions in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def check(self) -> None:
        """Raise `StoreError` unless the database responds and can be written to."""
        await self._database.check()

    async def create(
        self, *, owner: str = LOCAL_OWNER, session_id: str | None = None, title: str = ""
    ) -> Session:
        """Create a session; raise `ConflictError` if the id is taken."""
        session = make_session(owner, session_id, title=title)
        try:
            await self._database.write(lambda connection: insert_session(connection, session))
        except ConflictError as error:
            raise ConflictError(
                f"Session {session.id!r} already exists.", hint="Choose another id, or leave it out."
            ) from error
        return session

    async def add(
        self,
        imported: Sequence[Message],
        *,
        owner: str = LOCAL_OWNER,
        title: str = "",
        head: str | None = None,
        usage: Usage | None = None,
    ) -> Session:
        """Create a session with messages, parents before their children."""
        check_tree(imported, head)
        tree = MessageTree(imported, head)
        session = make_session(owner, None, title=title)
        session = dataclasses.replace(session, version=1, head_id=tree.head, usage=usage or Usage())

        def store(connection: sa.Connection) -> None:
            insert_session(connection, session)
            for message in imported:
                insert_message(connection, session.id, message)

        await self._database.write(store)
        return session

    async def get(self, session_id: str, *, owner: str = LOCAL_OWNER) -> Session:
        """Return the session with this id."""
        return await self._database.read(lambda connection: fetch_session(connection, session_id, owner))

    async def page(
        self, *, owner: str = LOCAL_OWNER, query: str = "", cursor: str | None = None, limit: int = 50
    ) -> SessionPage:
        """Return sessions whose title or messages contain `query`, the last changed first."""
        statement = sa.select(sessions).where(sessions.c.owner == owner)
        if query:
            statement = statement.where(_holds(query))
        if cursor:
            statement = statement.where(_is_before(cursor))
        order = (sessions.c.updated_at.desc(), sessions.c.id.desc())
        statement = statement.order_by(*order).limit(limit + 1)
        rows = await self._database.read(lambda connection: connection.execute(statement).mappings().all())
        found = [read_session(row) for row in rows[:limit]]
        more = len(rows) > limit
        return SessionPage(found, f"{found[-1].updated_at!r}/{found[-1].id}" if more else None)

    async def tree(self, session: Session) -> MessageTree:
        """Return the session's messages."""
        return await self._database.read(lambda connection: fetch_tree(connection, session))

    async def open(self, session_id: str, *, owner: str = LOCAL_OWNER) -> tuple[Session, MessageTree]:
        """Return the session and its messages."""

        def look(connection: sa.Connection) -> tuple[Session, MessageTree]:
            session = fetch_session(connection, session_id, owner)
            return session, fetch_tree(connection, session)

        return await self._database.read(look)

    async def save_message(
        self, session_id: str, message: Message, *, owner: str = LOCAL_OWNER, usage: Usage | None = None
    ) -> None:
        """Add the message and move the head to it; a message saved again is replaced."""
        await self._database.write(
            lambda connection: store_answer(connection, session_id, owner, message, usage or Usage())
        )

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

        def change(connection: sa.Connection) -> Session:
            session = fetch_session(connection, session_id, owner)
            if version is not None and version != session.version:
                raise ConflictError(
                    f"Session {session_id!r} has changed: it is at version {session.version}, not {version}.",
                    hint="Read it again and repeat the change.",
                )
            if head_id is not None:
                changes["head_id"] = fetch_tree(connection, session).switch(head_id)
            touch(connection, session, changes)
            return fetch_session(connection, session_id, owner)

        return await self._database.write(change)

    async def remove_message(self, session_id: str, message_id: str, *, owner: str = LOCAL_OWNER) -> Session:
        """Remove a message and all below it; raise `ConflictError` while one of them is being answered."""

        def remove(connection: sa.Connection) -> Session:
            session = fetch_session(connection, session_id, owner)
            tree = fetch_tree(connection, session)
            removed = tree.remove(message_id)
            _refuse_while_answered(connection, session_id, removed)
            gone = (messages.c.session_id == session_id) & messages.c.id.in_(removed)
            connection.execute(sa.delete(messages).where(gone))
            touch(connection, session, {"head_id": tree.head})
            return fetch_session(connection, session_id, owner)

        return await self._database.write(remove)

    async def delete(self, session_id: str, *, owner: str = LOCAL_OWNER) -> None:
        """Delete the session with all its messages."""

        def delete(connection: sa.Connection) -> None:
            session = fetch_session(connection, session_id, owner)
            connection.execute(sa.delete(sessions).where(sessions.c.id == session.id))

        await self._database.write(delete)


def _refuse_while_answered(connection: sa.Connection, session_id: str, removed: Sequence[str]) -> None:
    """Raise if a message to be removed is being answered: the answer would have no place in the tree."""
    of_session = (runs.c.session_id == session_id) & (runs.c.state == "running")
    for run_id, given in connection.execute(sa.select(runs.c.id, runs.c.input).where(of_session)):
        if given.get("parent_id") in removed:
            raise ConflictError(
                f"Message {given['parent_id']!r} is being answered by run {run_id!r}.",
                hint="Wait for the run to end, or cancel it.",
            )


def _holds(query: str) -> sa.ColumnElement[bool]:
    inside = sa.select(messages.c.id).where(
        messages.c.session_id == sessions.c.id,
        sa.cast(messages.c.parts, sa.Text).icontains(query, autoescape=True),
    )
    return sessions.c.title.icontains(query, autoescape=True) | inside.exists()


def _is_before(cursor: str) -> sa.ColumnElement[bool]:
    updated, _, session_id = cursor.partition("/")
    moment = read_number(updated)
    if moment is None:
        raise NotFoundError(f"Invalid cursor {cursor!r}; use the cursor returned with the previous page.")
    return sa.tuple_(sessions.c.updated_at, sessions.c.id) < sa.tuple_(sa.literal(moment), session_id)
