"""Stored asks: each has at most one answer, from its owner."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

import sqlalchemy as sa

from dovetail.errors import ConflictError, NotFoundError
from dovetail.events.run_events import AskKind
from dovetail.store.database import Database, Transaction
from dovetail.store.tables import asks, early_answers, to_values

AskState: TypeAlias = Literal["open", "answered", "timeout", "cancelled"]
_OPEN = (asks.c.run_id == sa.bindparam("run")) & (asks.c.state == "open")
_CLOSE = sa.update(asks).where(_OPEN).values(state="cancelled")


@dataclass(frozen=True, slots=True, kw_only=True)
class AskRecord:
    """A question to a user or a browser, and its answer, if any."""

    id: str
    run_id: str
    owner: str
    path: tuple[str, ...]
    kind: AskKind
    call_id: str
    payload: Mapping[str, Any]
    timeout: float | None
    state: AskState = "open"
    value: Any = None
    claimed_by: str | None = None
    claimed_until: float | None = None
    created_at: float = 0.0


LONGEST_LEASE = 120.0


def is_lease_over(ask: AskRecord) -> bool:
    """Whether a tab had claimed the ask and did not renew its lease in time."""
    if ask.claimed_until is None:
        return False
    now = time.time()
    # A lease that ends later than any can was given before the clock was moved back.
    return not now <= ask.claimed_until <= now + LONGEST_LEASE


_ORDER = (sa.case((asks.c.state == "open", 0), else_=1), asks.c.created_at.desc())
"""Open asks first: of several asks about one call the open one counts, whatever their times."""
_AS_ASKED = (sa.case((asks.c.state == "open", 1), else_=0), asks.c.created_at, asks.c.id)
"""A call asks the next question after it has the answer to the one before."""

_MOST_ALIKE = 50
_ENDS = {
    "answered": "has already been answered",
    "timeout": "timed out",
    "cancelled": "ended with its run",
}


class AskStore:
    """Asks in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, ask: AskRecord) -> None:
        """Store a new ask."""
        values = {**to_values(ask), "path": list(ask.path), "created_at": time.time()}
        statement = sa.insert(asks).values(values)
        await self._database.write(lambda connection: connection.execute(statement))

    async def get(self, ask_id: str, owner: str) -> AskRecord:
        """Return the ask with this id."""
        return await self._first(
            asks.c.id == ask_id, asks.c.owner == owner, missing=f"Ask {ask_id!r} not found."
        )

    async def find_by_id(self, ask_id: str) -> AskRecord | None:
        """Return the ask with this id, of any owner, if it exists."""
        try:
            return await self._first(asks.c.id == ask_id, missing="")
        except NotFoundError:
            return None

    async def find(
        self, owner: str, call_id: str, kind: AskKind, run_id: str | None = None
    ) -> list[AskRecord]:
        """Return the asks about a call, open ones first; models may reuse ids in other chats."""
        wanted = (asks.c.owner == owner) & (asks.c.call_id == call_id) & (asks.c.kind == kind)
        statement = sa.select(asks).where(wanted).order_by(*_ORDER).limit(_MOST_ALIKE)
        if run_id is not None:
            statement = statement.where(asks.c.run_id == run_id)
        return await self._list(statement)

    async def find_earlier(self, ask: AskRecord) -> list[AskRecord]:
        """Return what the call of an ask has asked so far, in order."""
        of_call = (asks.c.run_id == ask.run_id) & (asks.c.call_id == ask.call_id)
        statement = sa.select(asks).where(of_call, asks.c.state != "cancelled").order_by(*_AS_ASKED)
        return [one for one in await self._list(statement) if one.path == ask.path]

    async def list_open(self, owner: str, run_id: str | None = None) -> list[AskRecord]:
        """Return the open asks of an owner, oldest first."""
        statement = sa.select(asks).where(asks.c.owner == owner, asks.c.state == "open")
        if run_id is not None:
            statement = statement.where(asks.c.run_id == run_id)
        return await self._list(statement.order_by(asks.c.created_at))

    async def count_open(self) -> int:
        """Return how many asks are open, of all owners."""
        statement = sa.select(sa.func.count()).select_from(asks).where(asks.c.state == "open")
        return await self._database.read(lambda connection: connection.scalar(statement) or 0)

    async def close(self, ask_id: str, state: AskState, value: Any) -> bool:
        """Give an open ask its one answer; False if it is no longer open."""
        still_open = (asks.c.id == ask_id) & (asks.c.state == "open")
        return await self._update(sa.update(asks).where(still_open).values(state=state, value=value))

    async def close_ended(self, run_id: str, is_over: Callable[[tuple[str, ...], str], bool]) -> None:
        """Cancel the open asks of a run whose calls have ended without them, as after a crash."""
        still_open = (asks.c.run_id == run_id) & (asks.c.state == "open")
        found = [
            ask
            for ask in await self._list(sa.select(asks).where(still_open))
            if is_over(ask.path, ask.call_id)
        ]
        if found:
            gone = asks.c.id.in_([ask.id for ask in found])
            await self._update(sa.update(asks).where(still_open, gone).values(state="cancelled"))

    async def claim(self, ask: AskRecord, tab_id: str, seconds: float) -> float:
        """Let only this tab act for some seconds; return when its lease ends."""
        until = time.time() + seconds
        free = sa.or_(asks.c.claimed_by.is_(None), asks.c.claimed_by == tab_id)
        claimable = (asks.c.id == ask.id) & (asks.c.state == "open") & (asks.c.kind == "browser")
        values = {"claimed_by": tab_id, "claimed_until": until}
        if not await self._update(sa.update(asks).where(claimable, free).values(values)):
            raise _explain_refusal(await self.get(ask.id, ask.owner))
        return until

    async def desert(self, ask: AskRecord, value: Any) -> bool:
        """Answer an open ask that no tab works on; False if one has claimed it since it was read."""
        same = asks.c.claimed_until == ask.claimed_until if ask.claimed_by else asks.c.claimed_by.is_(None)
        is_left = (asks.c.id == ask.id) & (asks.c.state == "open") & same
        return await self._update(sa.update(asks).where(is_left).values(state="answered", value=value))

    async def put_early(self, owner: str, key: str, value: Any, *, seconds: float, limit: int) -> None:
        """Keep an answer that came before its question; raise `ConflictError` if the key is taken."""
        now = time.time()
        own = early_answers.c.owner == owner
        values = {"owner": owner, "call_id": key, "value": value, "expires_at": now + seconds}

        def put(connection: Transaction) -> None:
            connection.execute(sa.delete(early_answers).where(early_answers.c.expires_at < now))
            count = connection.scalar(sa.select(sa.func.count()).select_from(early_answers).where(own))
            if (count or 0) >= limit:
                raise ConflictError(f"Too many early answers: {limit} are already waiting.")
            connection.execute(sa.insert(early_answers).values(values))

        await self._database.write(put)

    async def take_early(self, owner: str, keys: Sequence[str]) -> Any:
        """Remove and return the early answer under one of these keys, if any."""
        mine = (early_answers.c.owner == owner) & early_answers.c.call_id.in_(keys)
        still_valid = early_answers.c.expires_at >= time.time()
        statement = sa.delete(early_answers).where(mine, still_valid).returning(early_answers.c.value)
        return await self._database.write(lambda connection: connection.scalar(statement))

    async def _first(self, *conditions: sa.ColumnElement[bool], missing: str) -> AskRecord:
        found = await self._list(sa.select(asks).where(*conditions).limit(1))
        if not found:
            raise NotFoundError(missing)
        return found[0]

    async def _list(self, statement: sa.Select[Any]) -> list[AskRecord]:
        rows = await self._database.read(lambda connection: connection.execute(statement).mappings().all())
        return [_read_ask(row) for row in rows]

    async def _update(self, statement: sa.Update) -> bool:
        """Whether the statement has changed a row."""
        return await self._database.write(lambda connection: bool(connection.execute(statement).rowcount))


def close_asks(connection: sa.Connection, run_ids: Sequence[str]) -> None:
    """Cancel the open asks of runs that end."""
    connection.execute(_CLOSE, [{"run": run_id} for run_id in run_ids])


def _explain_refusal(ask: AskRecord) -> ConflictError:
    """Explain why a tab cannot claim this ask."""
    if ask.kind != "browser":
        return ConflictError(
            f"Ask {ask.id!r} has kind {ask.kind!r}; only browser asks can be claimed by a tab.",
            hint="Answer it instead.",
        )
    if ask.state != "open":
        return ConflictError(f"Ask {ask.id!r} {_ENDS[ask.state]}.", hint="Nothing is left to do.")
    until = datetime.fromtimestamp(ask.claimed_until or 0, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return ConflictError(
        f"Ask {ask.id!r} is claimed by tab {ask.claimed_by!r} until {until}.",
        hint="Leave it to that tab; if the tab does not renew its claim, the call fails.",
    )


def _read_ask(row: Any) -> AskRecord:
    values: dict[str, Any] = {**row, "path": tuple(row["path"])}
    return AskRecord(**values)
