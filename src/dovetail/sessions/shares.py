"""Shared links: a branch of a session for everyone who has its address, until its owner revokes it."""

import secrets
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from dovetail.data.shapes import is_mapping
from dovetail.errors import InvalidDataError, NotFoundError
from dovetail.sessions.message import Message, MessageTree, Part
from dovetail.sessions.rows import fetch_session, fetch_tree
from dovetail.store.database import Database
from dovetail.store.tables import shares, to_values

_TALK = frozenset({"text", "file"})
_TOOL_FIELDS = ("type", "toolName", "toolCallId", "title", "state", "input", "output", "errorText")


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A link to a session as it was: the branch that ends at `head_id`, `with_work` with its tool calls."""

    token: str
    session_id: str
    owner: str
    head_id: str | None
    with_work: bool
    created_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedChat:
    """What a link shows."""

    title: str
    messages: Sequence[Message]
    created_at: float


class ShareStore:
    """The links of sessions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, session_id: str, *, owner: str, with_work: bool = False) -> Share:
        """Create a link to the current branch of a session; later messages are not part of it."""

        def store(connection: sa.Connection) -> Share:
            session = fetch_session(connection, session_id, owner)
            if session.head_id is None:
                raise InvalidDataError(f"Session {session_id!r} has no messages to share.")
            share = Share(
                token=secrets.token_urlsafe(24),
                session_id=session_id,
                owner=owner,
                head_id=session.head_id,
                with_work=with_work,
                created_at=time.time(),
            )
            connection.execute(sa.insert(shares), to_values(share))
            return share

        return await self._database.write(store)

    async def list(self, session_id: str, *, owner: str) -> list[Share]:
        """Return the links of a session, oldest first."""
        statement = sa.select(shares).where(shares.c.session_id == session_id, shares.c.owner == owner)
        statement = statement.order_by(shares.c.created_at)
        rows = await self._database.read(lambda connection: connection.execute(statement).mappings().all())
        return [Share(**row) for row in rows]

    async def revoke(self, token: str, *, owner: str) -> None:
        """Delete a link: its address shows nothing any more."""
        statement = sa.delete(shares).where(shares.c.token == token, shares.c.owner == owner)
        count = await self._database.write(lambda connection: connection.execute(statement).rowcount)
        if not count:
            raise NotFoundError("This link does not exist, or was revoked.")

    async def open(self, token: str) -> SharedChat:
        """Return what a link shows, to whoever has it."""
        statement = sa.select(shares).where(shares.c.token == token)

        def look(connection: sa.Connection) -> SharedChat:
            row = connection.execute(statement).mappings().first()
            if row is None:
                raise NotFoundError("This link does not exist, or was revoked.")
            share = Share(**row)
            session = fetch_session(connection, share.session_id, share.owner)
            path = _find_path(fetch_tree(connection, session), share.head_id)
            shown = [_reduce(message, with_work=share.with_work) for message in path]
            return SharedChat(title=session.title, messages=shown, created_at=share.created_at)

        return await self._database.read(look)


def _find_path(tree: MessageTree, head_id: str | None) -> list[Message]:
    try:
        return tree.path(head_id)
    except NotFoundError:
        raise NotFoundError("The shared messages were deleted.") from None


def _reduce(message: Message, *, with_work: bool) -> Message:
    """Return a message with what a link may show: no reasoning, no ids of runs, no figures."""
    return Message(
        id=message.id,
        parent_id=message.parent_id,
        role=message.role,
        parts=[*_reduce_parts(message.parts, with_work=with_work)],
        created_at=message.created_at,
    )


def _reduce_parts(parts: Sequence[Part], *, with_work: bool) -> Iterator[Part]:
    for part in parts:
        kind = str(part.get("type", ""))
        if kind in _TALK:
            yield {name: part[name] for name in part if name != "providerMetadata"}
        elif with_work and (kind == "dynamic-tool" or kind.startswith("tool-")):
            shown = {name: part[name] for name in _TOOL_FIELDS if name in part}
            about = part.get("toolMetadata")
            kind = about.get("kind") if is_mapping(about) else None
            yield {**shown, "toolMetadata": {"kind": kind}} if kind else shown
