"""The store of sessions and their messages.

Promises: a caller sees only what belongs to its owner; every change is one transaction and increments the
session's version; a change that names an older version is rejected.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, Unpack

import sqlalchemy as sa

from dovetail.errors import ConflictError, NotFoundError
from dovetail.events.background import Task
from dovetail.events.delta import Usage
from dovetail.runs.feed import SessionChange
from dovetail.sessions.message import (
    Message,
    MessageTree,
    Session,
    SessionPage,
    Stretch,
    check_tree,
    make_session,
)
from dovetail.sessions.options import SessionChanges, merge_options
from dovetail.sessions.rows import (
    fetch_messages,
    fetch_outline,
    fetch_session,
    fetch_tree,
    insert_message,
    insert_session,
    save_message,
    store_notice,
    touch,
)
from dovetail.sessions.search import SessionFilter, fetch_page
from dovetail.sessions.shares import ShareStore
from dovetail.sessions.task_rows import TASKS, read_task
from dovetail.settings import LOCAL_OWNER
from dovetail.store.database import Database
from dovetail.store.retention import fetch_below
from dovetail.store.tables import messages, runs, sessions
from dovetail.store.usage import keep_usage

_FILING = frozenset({"pinned", "folder"})
"""Changes after which a session keeps its place in the order of time."""


class OnChange(Protocol):
    """Called with the owner and id of a session after each stored change of it."""

    def __call__(self, owner: str, session_id: str, change: SessionChange, /) -> None: ...


class SessionStore:
    """Sessions in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.shares = ShareStore(database)
        self.on_change: OnChange = lambda owner, session_id, change: None

    async def check(self) -> None:
        """Raise `StoreError` unless the database responds and can be written to."""
        await self._database.check()

    async def create(
        self,
        *,
        owner: str = LOCAL_OWNER,
        session_id: str | None = None,
        title: str = "",
        agent: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Session:
        """Create a session; raise `ConflictError` if the id is taken."""
        session = make_session(owner, session_id, title=title)
        session = dataclasses.replace(session, agent=agent, options=merge_options(None, options or {}))
        try:
            await self._database.write(lambda connection: insert_session(connection, session))
        except ConflictError as error:
            raise ConflictError(
                f"Session {session.id!r} already exists.", hint="Choose another id, or leave it out."
            ) from error
        self.on_change(owner, session.id, "created")
        return session

    async def add(
        self,
        imported: Sequence[Message],
        *,
        owner: str = LOCAL_OWNER,
        title: str = "",
        head: str | None = None,
        usage: Usage | None = None,
        choice: tuple[str | None, Mapping[str, Any]] = (None, {}),
    ) -> Session:
        """Create a session with messages, parents before children; `choice` is its agent and options."""
        check_tree(imported, head)
        tree = MessageTree(imported, head)
        agent, options = choice
        session = dataclasses.replace(
            make_session(owner, None, title=title),
            head_id=tree.head,
            usage=usage or Usage(),
            agent=agent,
            options=merge_options(None, options),
        )

        def store(connection: sa.Connection) -> None:
            insert_session(connection, session)
            for message in imported:
                insert_message(connection, session.id, message)

        await self._database.write(store)
        self.on_change(owner, session.id, "created")
        return session

    async def get(self, session_id: str, *, owner: str = LOCAL_OWNER) -> Session:
        """Return the session with this id."""
        return await self._database.read(lambda connection: fetch_session(connection, session_id, owner))

    async def page(
        self,
        *,
        owner: str = LOCAL_OWNER,
        cursor: str | None = None,
        limit: int = 50,
        **wanted: Unpack[SessionFilter],
    ) -> SessionPage:
        """Return the sessions that are wanted, the last changed first."""
        return await self._database.read(
            lambda connection: fetch_page(connection, owner, wanted, (cursor, limit))
        )

    async def count_folders(self, *, owner: str = LOCAL_OWNER) -> dict[str, int]:
        """Return the names of the folders of sessions, and how many are in each."""
        statement = sa.select(sessions.c.folder, sa.func.count().label("size")).where(
            sessions.c.owner == owner
        )
        statement = statement.where(sessions.c.folder.is_not(None), sessions.c.parent_id.is_(None))
        statement = statement.group_by(sessions.c.folder).order_by(sessions.c.folder)
        rows = await self._database.read(lambda connection: connection.execute(statement).all())
        return {row.folder: row.size for row in rows}

    async def rename_folder(self, name: str, new: str | None, *, owner: str = LOCAL_OWNER) -> int:
        """Move the sessions of a folder into another one, or into none; return how many."""
        statement = sa.update(sessions).where(sessions.c.owner == owner, sessions.c.folder == name)
        statement = statement.values(folder=new, version=sessions.c.version + 1)
        count = await self._database.write(lambda connection: connection.execute(statement).rowcount)
        if not count:
            raise NotFoundError(f"Folder {name!r} not found.")
        return count

    async def tree(self, session: Session) -> MessageTree:
        """Return the session's messages."""
        return await self._database.read(lambda connection: fetch_tree(connection, session))

    async def stretch(self, session: Session, wanted: Stretch) -> tuple[MessageTree, int, Sequence[Message]]:
        """Return the tree without contents, the number of older messages, and the wanted ones of the path."""

        def look(connection: sa.Connection) -> tuple[MessageTree, int, Sequence[Message]]:
            outline = fetch_outline(connection, session)
            older, path = wanted.cut(outline.path())
            return outline, older, fetch_messages(connection, session, [message.id for message in path])

        return await self._database.read(look)

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

        def save(connection: sa.Connection) -> None:
            session = fetch_session(connection, session_id, owner)
            total = dataclasses.asdict(session.usage + (usage or Usage()))
            save_message(connection, session, message, {"usage": total})

        await self._database.write(save)
        self.on_change(owner, session_id, "changed")

    async def update(
        self,
        session_id: str,
        *,
        owner: str = LOCAL_OWNER,
        version: int | None = None,
        **changes: Unpack[SessionChanges],
    ) -> Session:
        """Change the session: `head_id` moves its head to the newest leaf below a message."""

        def change(connection: sa.Connection) -> Session:
            session = fetch_session(connection, session_id, owner)
            if version is not None and version != session.version:
                raise ConflictError(
                    f"Session {session_id!r} has changed: it is at version {session.version}, not {version}.",
                    hint="Read it again and repeat the change.",
                )
            values: dict[str, Any] = {**changes}
            if "head_id" in changes:
                values["head_id"] = fetch_tree(connection, session).switch(changes["head_id"])
            if "options" in changes:
                values["options"] = merge_options(session.options, changes["options"])
            if not changes.keys() - _FILING:
                values["updated_at"] = session.updated_at
            touch(connection, session, values)
            return fetch_session(connection, session_id, owner)

        changed = await self._database.write(change)
        self.on_change(owner, session_id, "changed")
        return changed

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

        changed = await self._database.write(remove)
        self.on_change(owner, session_id, "changed")
        return changed

    async def delete(self, session_id: str, *, owner: str = LOCAL_OWNER) -> None:
        """Delete the session and all below it; the session above a task at work gets a notice."""

        def delete(connection: sa.Connection) -> None:
            session = fetch_session(connection, session_id, owner)
            if session.is_task:
                _report_deleted(connection, session)
            gone = [session.id, *fetch_below(connection, [session.id])]
            keep_usage(connection, runs.c.session_id.in_(gone))
            connection.execute(sa.delete(sessions).where(sessions.c.id.in_(gone)))

        await self._database.write(delete)
        self.on_change(owner, session_id, "deleted")

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

    async def find_places(self, run_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return for each run of a session: its session, the one above it, their title, and its agent."""
        found = {
            "session_id": sessions.c.id,
            "parent_session_id": sessions.c.parent_id,
            "session_title": sessions.c.title,
            "agent": runs.c.agent,
        }
        statement = sa.select(runs.c.id, *found.values()).join_from(runs, sessions)
        statement = statement.where(runs.c.id.in_(run_ids))
        rows = await self._database.read(lambda connection: connection.execute(statement).all())
        return {row[0]: dict(zip(found, row[1:], strict=True)) for row in rows}

    async def find_ancestors(self, session_ids: Sequence[str]) -> dict[str, list[str]]:
        """Return all sessions in whose background each session works, from the top."""
        above = sa.select(sessions.c.id, sessions.c.parent_id).where(sessions.c.id.in_(session_ids))
        found = above.cte("above", recursive=True)
        upper = sa.select(sessions.c.id, sessions.c.parent_id).join(found, sessions.c.id == found.c.parent_id)
        statement = sa.select(found.union(upper))
        rows = await self._database.read(lambda connection: connection.execute(statement).all())
        parents: dict[str, str | None] = {row[0]: row[1] for row in rows}
        return {session_id: _climb(session_id, parents) for session_id in session_ids}

    async def count_tasks(self, session_id: str, run_id: str) -> int:
        """Return how many tasks of a session a run has started."""
        started = sessions.c.origin["run_id"].as_string() == run_id
        statement = sa.select(sa.func.count()).where(sessions.c.parent_id == session_id, started)
        return await self._database.read(lambda connection: connection.scalar(statement) or 0)


def _climb(session_id: str, parents: Mapping[str, str | None]) -> list[str]:
    path: list[str] = []
    parent = parents.get(session_id)
    while parent is not None and parent in parents and parent not in path:  # a deleted one ends the way
        path.insert(0, parent)
        parent = parents[parent]
    return path


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
