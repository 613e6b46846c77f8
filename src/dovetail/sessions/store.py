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
from dovetail.events.background import Task
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
    store_notice,
    touch,
)
from dovetail.sessions.task_rows import TASKS, read_task
from dovetail.settings import LOCAL_OWNER
from dovetail.store.database import Database
from dovetail.store.retention import fetch_below
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
        self,
        *,
        owner: str = LOCAL_OWNER,
        query: str = "",
        parent_id: str | None = None,
        cursor: str | None = None,
        limit: int = 50,
    ) -> SessionPage:
        """Return sessions whose title or messages contain `query`, the last changed first.

        Without `parent_id` sessions below others are left out; otherwise these are those below that one.
        """
        statement = sa.select(sessions).where(sessions.c.owner == owner)
        statement = statement.where(sessions.c.parent_id.is_not_distinct_from(parent_id))
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
        """Delete the session and all below it; the session above a task at work gets a notice."""

        def delete(connection: sa.Connection) -> None:
            session = fetch_session(connection, session_id, owner)
            if session.is_task:
                _report_deleted(connection, session)
            gone = [session.id, *fetch_below(connection, [session.id])]
            connection.execute(sa.delete(sessions).where(sessions.c.id.in_(gone)))

        await self._database.write(delete)

    async def list_below(self, session_id: str) -> list[str]:
        """Return the ids of the sessions below this one, at all depths."""
        return await self._database.read(lambda connection: fetch_below(connection, [session_id]))

    async def list_tasks(self, session_id: str, *, owner: str = LOCAL_OWNER) -> list[Task]:
        """Return what works in the background of a session, oldest first."""
        statement = TASKS.where(sessions.c.parent_id == session_id, sessions.c.owner == owner)
        statement = statement.order_by(sessions.c.created_at, sessions.c.id)
        rows = await self._database.read(lambda connection: connection.execute(statement).mappings().all())
        return [read_task(row) for row in rows]

    async def find_task(
        self, task_id: str, *, owner: str = LOCAL_OWNER, parent_id: str | None = None
    ) -> Task | None:
        """Return the task with this id, if any; with `parent_id` only if it is one of that session."""
        statement = TASKS.where(sessions.c.id == task_id, sessions.c.owner == owner)
        if parent_id is not None:
            statement = statement.where(sessions.c.parent_id == parent_id)
        row = await self._database.read(lambda connection: connection.execute(statement).mappings().first())
        return None if row is None else read_task(row)

    async def find_places(self, run_ids: Sequence[str]) -> dict[str, tuple[str, str | None]]:
        """Return the session of each run, and the one above it, if any."""
        statement = sa.select(runs.c.id, sessions.c.id, sessions.c.parent_id).join_from(runs, sessions)
        statement = statement.where(runs.c.id.in_(run_ids))
        rows = await self._database.read(lambda connection: connection.execute(statement).all())
        return {run_id: (session_id, parent_id) for run_id, session_id, parent_id in rows}

    async def count_tasks(self, session_id: str, run_id: str) -> int:
        """Return how many tasks of a session a run has started."""
        started = sessions.c.origin["run_id"].as_string() == run_id
        statement = sa.select(sa.func.count()).where(sessions.c.parent_id == session_id, started)
        return await self._database.read(lambda connection: connection.scalar(statement) or 0)


def _report_deleted(connection: sa.Connection, session: Session) -> None:
    at_work = (runs.c.session_id == session.id) & (runs.c.state == "running")
    run_id = connection.scalar(sa.select(runs.c.id).where(at_work))
    if run_id is not None:  # its end finds no session any more
        text = f"[Background task {session.id!r} (agent {session.agent!r}) was deleted before its end.]"
        store_notice(connection, session, run_id, text)


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
