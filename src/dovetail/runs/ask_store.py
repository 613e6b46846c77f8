"""Keeps asks: each is answered at most once, by its owner."""

import time
from collections.abc import Mapping, Sequence
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
    """A question to somebody outside, and its answer when there is one."""

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


_ORDER = (sa.case((asks.c.state == "open", 0), else_=1), asks.c.created_at.desc())
"""Of the asks about one call the open one is meant, whatever the clock said when they were asked."""

_MOST_ALIKE = 50
_ENDS = {
    "answered": "is answered already",
    "timeout": "was not answered in time",
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
        """The ask with this id."""
        return await self._first(asks.c.id == ask_id, asks.c.owner == owner, missing=f"no ask {ask_id!r}")

    async def find_by_id(self, ask_id: str) -> AskRecord | None:
        """The ask with this id, whoever owns it."""
        try:
            return await self._first(asks.c.id == ask_id, missing="")
        except NotFoundError:
            return None

    async def find(
        self, owner: str, call_id: str, kind: AskKind, run_id: str | None = None
    ) -> list[AskRecord]:
        """The asks about a call, open ones first; several where a model repeats its ids in other chats."""
        wanted = (asks.c.owner == owner) & (asks.c.call_id == call_id) & (asks.c.kind == kind)
        statement = sa.select(asks).where(wanted).order_by(*_ORDER).limit(_MOST_ALIKE)
        if run_id is not None:
            statement = statement.where(asks.c.run_id == run_id)
        return await self._list(statement)

    async def waits_for_another(self, owner: str, call_id: str) -> bool:
        """Whether a browser ask about this call is open and somebody else's."""
        wanted = (asks.c.call_id == call_id) & (asks.c.kind == "browser") & (asks.c.state == "open")
        statement = sa.select(sa.literal(1)).where(wanted, asks.c.owner != owner).limit(1)
        return await self._database.read(lambda connection: connection.scalar(statement) is not None)

    async def list_open(self, owner: str, run_id: str | None = None) -> list[AskRecord]:
        """The open asks of an owner, oldest first."""
        statement = sa.select(asks).where(asks.c.owner == owner, asks.c.state == "open")
        if run_id is not None:
            statement = statement.where(asks.c.run_id == run_id)
        return await self._list(statement.order_by(asks.c.created_at))

    async def close(self, ask_id: str, state: AskState, value: Any) -> bool:
        """Give an open ask its one answer; False when it is not open any more."""
        still_open = (asks.c.id == ask_id) & (asks.c.state == "open")
        return await self._update(sa.update(asks).where(still_open).values(state=state, value=value))

    async def close_children(self, run_id: str) -> None:
        """Clear the waits of children of a run; after a crash they do not go on."""
        still_open = (asks.c.run_id == run_id) & (asks.c.state == "open")

        def close(connection: Transaction) -> None:
            rows = connection.execute(sa.select(asks.c.id, asks.c.path).where(still_open))
            children = [ask_id for ask_id, path in rows if len(path) > 1]
            gone = still_open & asks.c.id.in_(children)
            connection.execute(sa.update(asks).where(gone).values(state="cancelled"))

        await self._database.write(close)

    async def claim(self, ask: AskRecord, tab_id: str, seconds: float) -> float:
        """Let one tab act for some seconds; another tab is refused until then."""
        now = time.time()
        # A lease that ends later than any can was given before the clock was moved back.
        over = (asks.c.claimed_until < now) | (asks.c.claimed_until > now + seconds)
        free = sa.or_(asks.c.claimed_by.is_(None), asks.c.claimed_by == tab_id, over)
        claimable = (asks.c.id == ask.id) & (asks.c.state == "open") & (asks.c.kind == "browser")
        values = {"claimed_by": tab_id, "claimed_until": now + seconds}
        if not await self._update(sa.update(asks).where(claimable, free).values(values)):
            raise _explain_refusal(await self.get(ask.id, ask.owner))
        return now + seconds

    async def abandon(self, ask_id: str, value: Any, *, grace: float) -> bool:
        """Answer an ask whose lease ran out longer than `grace` seconds ago; False if there is none."""
        is_over = (
            (asks.c.id == ask_id) & (asks.c.state == "open") & (asks.c.claimed_until < time.time() - grace)
        )
        return await self._update(sa.update(asks).where(is_over).values(state="answered", value=value))

    async def put_early(self, owner: str, key: str, value: Any, *, seconds: float, limit: int) -> None:
        """Keep an answer for which nobody waits yet; a second one under the same key is refused."""
        now = time.time()
        own = early_answers.c.owner == owner
        values = {"owner": owner, "call_id": key, "value": value, "expires_at": now + seconds}

        def put(connection: Transaction) -> None:
            connection.execute(sa.delete(early_answers).where(early_answers.c.expires_at < now))
            count = connection.scalar(sa.select(sa.func.count()).select_from(early_answers).where(own))
            if (count or 0) >= limit:
                raise ConflictError(f"too many early answers: {limit} wait already")
            connection.execute(sa.insert(early_answers).values(values))

        await self._database.write(put)

    async def take_early(self, owner: str, keys: Sequence[str]) -> Any:
        """The early answer under one of these keys, which is then gone; None when there is none."""
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
    """Clear the waits of runs that end."""
    connection.execute(_CLOSE, [{"run": run_id} for run_id in run_ids])


def _explain_refusal(ask: AskRecord) -> ConflictError:
    """Why a tab may not claim this ask."""
    if ask.kind != "browser":
        return ConflictError(
            f"ask {ask.id!r} is no browser question but of the kind {ask.kind!r}: no tab need claim it",
            hint="Answer it.",
        )
    if ask.state != "open":
        return ConflictError(f"ask {ask.id!r} {_ENDS[ask.state]}", hint="There is nothing left to do.")
    until = datetime.fromtimestamp(ask.claimed_until or 0, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return ConflictError(
        f"ask {ask.id!r} is claimed by the tab {ask.claimed_by!r} until {until}",
        hint="Leave it to that tab, or claim it when that time is over.",
    )


def _read_ask(row: Any) -> AskRecord:
    values: dict[str, Any] = {**row, "path": tuple(row["path"])}
    return AskRecord(**values)
