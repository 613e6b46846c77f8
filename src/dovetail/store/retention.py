"""Counting the rows of a database, and deleting old sessions."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from dovetail.store.database import Database
from dovetail.store.tables import artifacts, early_answers, entries, messages, runs, sessions, spending, ticks
from dovetail.store.usage import keep_usage

_AT_ONCE = 100
"""Sessions deleted per transaction: a server that uses the same database waits for each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The number of rows of each kind; `artifact_bytes` is the total size of the artifacts."""

    sessions: int = 0
    messages: int = 0
    runs: int = 0
    events: int = 0
    artifacts: int = 0
    artifact_bytes: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        mine, others = asdict(self), asdict(other)
        return Counts(**{name: mine[name] + others[name] for name in mine})


async def count_all(database: Database) -> Counts:
    """Count everything in the database."""
    return await database.read(lambda connection: _count(connection, sa.true(), sa.true(), sa.true()))


async def prune(database: Database, *, before: float, is_trial: bool = False) -> Counts:
    """Delete sessions that were last changed before a time, with everything that belongs to them.

    A session below others is deleted with the topmost one, once none of them has changed since.
    Runs and artifacts without a session, and records of ticks, are deleted by their own age; sessions and
    runs in progress are kept. With `is_trial` nothing is deleted, only counted.
    """
    total = await database.write(lambda connection: _prune_loose(connection, before, is_trial))
    after = ""
    while True:
        chosen = await database.read(lambda connection, after=after: _choose(connection, before, after))
        if not chosen:
            return total
        after = chosen[-1]
        total += await database.write(
            lambda connection, chosen=chosen: _prune_sessions(connection, before, chosen, is_trial)
        )


def fetch_below(connection: sa.Connection, session_ids: Sequence[str]) -> list[str]:
    """Return the ids of all sessions below these, at all depths."""
    found: list[str] = []
    level = list(session_ids)
    while level:
        statement = sa.select(sessions.c.id).where(sessions.c.parent_id.in_(level))
        level = list(connection.scalars(statement))
        found += level
    return found


def _choose(connection: sa.Connection, before: float, after: str) -> Sequence[str]:
    statement = sa.select(sessions.c.id).where(_is_old(before), _is_top(), sessions.c.id > after)
    return connection.scalars(statement.order_by(sessions.c.id).limit(_AT_ONCE)).all()


def _is_old(before: float) -> sa.ColumnElement[bool]:
    running = sa.select(runs.c.id).where(runs.c.session_id == sessions.c.id, runs.c.state == "running")
    return (sessions.c.updated_at < before) & ~running.exists()


def _is_top() -> sa.ColumnElement[bool]:
    above = sessions.alias("above")
    parent = sa.select(above.c.id).where(above.c.id == sessions.c.parent_id).correlate(sessions)
    return ~parent.exists()


def _prune_sessions(
    connection: sa.Connection, before: float, chosen: Sequence[str], is_trial: bool
) -> Counts:
    old = sa.select(sessions.c.id).where(_is_old(before))
    tops = connection.scalars(old.where(sessions.c.id.in_(chosen)).with_for_update()).all()
    wanted = list(tops)
    for top in tops if _has_below(connection, tops) else ():
        below = fetch_below(connection, [top])
        if len(connection.scalars(old.where(sessions.c.id.in_(below)).with_for_update()).all()) == len(below):
            wanted += below
        else:
            wanted.remove(top)
    counts = _count(
        connection,
        sessions.c.id.in_(wanted),
        runs.c.session_id.in_(wanted),
        artifacts.c.session_id.in_(wanted),
    )
    if not is_trial:
        keep_usage(connection, runs.c.session_id.in_(wanted))
        connection.execute(sa.delete(sessions).where(sessions.c.id.in_(wanted)))
    return counts


def _has_below(connection: sa.Connection, tops: Sequence[str]) -> bool:
    statement = sa.select(sessions.c.id).where(sessions.c.parent_id.in_(tops)).limit(1)
    return connection.scalar(statement) is not None


def _prune_loose(connection: sa.Connection, before: float, is_trial: bool) -> Counts:
    old_runs = runs.c.session_id.is_(None) & (runs.c.state == "ended") & (runs.c.ended_at < before)
    old_artifacts = artifacts.c.session_id.is_(None) & (artifacts.c.created_at < before)
    counts = _count(connection, sa.false(), old_runs, old_artifacts)
    if not is_trial:
        keep_usage(connection, old_runs)
        connection.execute(sa.delete(runs).where(old_runs))
        connection.execute(sa.delete(artifacts).where(old_artifacts))
        day = datetime.fromtimestamp(before, UTC).date().isoformat()
        connection.execute(sa.delete(spending).where(spending.c.day < day))
        connection.execute(sa.delete(ticks).where(ticks.c.created_at < before))
        connection.execute(sa.delete(early_answers).where(early_answers.c.expires_at < time.time()))
    return counts


def _count(
    connection: sa.Connection,
    of_sessions: sa.ColumnElement[bool],
    of_runs: sa.ColumnElement[bool],
    of_artifacts: sa.ColumnElement[bool],
) -> Counts:
    def count(table: sa.Table, *conditions: sa.ColumnElement[bool]) -> int:
        return connection.scalar(sa.select(sa.func.count()).select_from(table).where(*conditions)) or 0

    chosen_sessions: Any = sa.select(sessions.c.id).where(of_sessions)
    chosen_runs: Any = sa.select(runs.c.id).where(of_runs)
    size = sa.select(sa.func.coalesce(sa.func.sum(artifacts.c.size), 0)).where(of_artifacts)
    return Counts(
        sessions=count(sessions, of_sessions),
        messages=count(messages, messages.c.session_id.in_(chosen_sessions)),
        runs=count(runs, of_runs),
        events=count(entries, entries.c.run_id.in_(chosen_runs)),
        artifacts=count(artifacts, of_artifacts),
        artifact_bytes=int(connection.scalar(size) or 0),
    )
