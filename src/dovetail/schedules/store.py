"""Stored schedules and ticks.

Promises: a tick is claimed once, in the caller's transaction, and only by the caller that saw the schedule as
it is stored; an owner sees and changes only their own schedules.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from dovetail.data.cron import Cron
from dovetail.errors import ConflictError, NotFoundError
from dovetail.schedules.schedule import REQUEST, Schedule, Tick
from dovetail.store.database import Database, Transaction
from dovetail.store.tables import schedules, sessions, ticks, to_values

MOST_SCHEDULES = 1000
"""Schedules of one owner."""
_MOST_DUE = 100
_SHOWN = schedules.c.source != "removed"
_NEWEST = (
    sa.select(sa.func.max(ticks.c.tick_at))
    .where(ticks.c.schedule_id == schedules.c.id)
    .correlate(schedules)
    .scalar_subquery()
)
_LAST = [column.label(f"last_{column.name}") for column in ticks.c]
_SCHEDULES = sa.select(schedules, *_LAST).outerjoin(
    ticks, (ticks.c.schedule_id == schedules.c.id) & (ticks.c.tick_at == _NEWEST)
)
_LOCKED = sa.select(schedules).with_for_update()
_OWN = ("id", "owner", "agent", "title", "missed", "source", "enabled", "next_at", "created_at")
"""The columns that are fields of a schedule."""


class ScheduleStore:
    """Schedules in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, schedule: Schedule) -> Schedule:
        """Store a new schedule; raise `ConflictError` if its owner has too many."""

        def insert(transaction: Transaction) -> None:
            wanted = (schedules.c.owner == schedule.owner) & _SHOWN
            count = sa.select(sa.func.count()).select_from(schedules).where(wanted)
            if (transaction.scalar(count) or 0) >= MOST_SCHEDULES:
                raise ConflictError(
                    f"{schedule.owner!r} has {MOST_SCHEDULES} schedules, more are not allowed.",
                    hint="Delete some of them first.",
                )
            transaction.execute(sa.insert(schedules), _to_row(schedule))

        await self._database.write(insert)
        return schedule

    async def get(self, schedule_id: str, *, owner: str | None = None) -> Schedule:
        """Return the schedule with this id; raise `NotFoundError` if it belongs to another owner."""
        return await self._database.read(
            lambda connection: _fetch(connection, _SCHEDULES, schedule_id, owner)
        )

    async def find(self, *, owner: str | None = None) -> list[Schedule]:
        """Return the schedules, of one owner or of all, the oldest first."""
        statement = _SCHEDULES.where(_SHOWN).order_by(schedules.c.created_at, schedules.c.id)
        if owner is not None:
            statement = statement.where(schedules.c.owner == owner)
        rows = await self._database.read(lambda connection: connection.execute(statement).mappings().all())
        return [_read_schedule(row) for row in rows]

    async def find_ticks(self, schedule_id: str, limit: int) -> list[Tick]:
        """Return the last ticks of a schedule, the newest first."""
        wanted = sa.select(ticks).where(ticks.c.schedule_id == schedule_id)
        wanted = wanted.order_by(ticks.c.tick_at.desc()).limit(limit)
        rows = await self._database.read(lambda connection: connection.execute(wanted).mappings().all())
        return [Tick(**row) for row in rows]

    async def change(
        self, schedule_id: str, edit: Callable[[Schedule], Schedule], *, owner: str | None = None
    ) -> None:
        """Replace a schedule by what `edit` returns for it."""

        def replace_row(transaction: Transaction) -> None:
            edited = edit(_fetch(transaction, _LOCKED, schedule_id, owner))
            own = schedules.c.id == schedule_id
            transaction.execute(sa.update(schedules).where(own).values(_to_row(edited)))

        await self._database.write(replace_row)

    async def remove(self, schedule_id: str) -> None:
        """Delete a schedule and the record of its ticks; its sessions stay."""
        statement = sa.delete(schedules).where(schedules.c.id == schedule_id)
        await self._database.write(lambda connection: connection.execute(statement) and None)

    async def find_next(self, until: float) -> list[Schedule]:
        """Return the schedules whose next tick comes until a moment, the earliest first."""
        statement = sa.select(schedules).where(schedules.c.next_at <= until, schedules.c.enabled)
        statement = statement.order_by(schedules.c.next_at).limit(_MOST_DUE)
        rows = await self._database.read(lambda connection: connection.execute(statement).mappings().all())
        return [_read_schedule(row) for row in rows]

    async def record(self, schedule: Schedule, next_at: float | None, *done: Tick) -> bool:
        """Record ticks that have no run; return False if another process was faster."""
        try:
            await self._database.write(lambda transaction: claim(transaction, schedule, next_at, *done))
        except ConflictError:
            return False
        return True

    async def find_recorded(self, schedule: Schedule, times: Sequence[float]) -> set[float]:
        """Return those of the times, in their order, that have a record already."""
        within = ticks.c.tick_at.between(times[0], times[-1])
        statement = sa.select(ticks.c.tick_at).where(ticks.c.schedule_id == schedule.id, within)
        return await self._database.read(lambda connection: set(connection.scalars(statement)))

    async def is_taken(self, session_id: str, owner: str) -> bool:
        """Whether a session belongs to another owner."""
        statement = sa.select(sessions.c.owner).where(sessions.c.id == session_id)
        return await self._database.read(lambda connection: connection.scalar(statement)) not in (None, owner)

    async def synchronize(self, wanted: Sequence[Schedule]) -> None:
        """Store the schedules of all agent files; those that no file has any more are hidden.

        What a person has paused stays paused, and the next tick stays unless the times have changed.
        """
        await self._database.write(lambda transaction: _synchronize(transaction, wanted))


def claim(transaction: Transaction, schedule: Schedule, next_at: float | None, *done: Tick) -> None:
    """Record ticks and move the schedule on; raise `ConflictError` if it is not as the caller has seen it."""
    as_seen = (
        (schedules.c.id == schedule.id) & (schedules.c.next_at == schedule.next_at) & schedules.c.enabled
    )
    moved = transaction.execute(sa.update(schedules).where(as_seen).values(next_at=next_at))
    if not moved.rowcount:
        raise ConflictError(f"Another process has taken the tick of schedule {schedule.id!r}.")
    if done:
        record_ticks(transaction, *done)


def record_ticks(transaction: Transaction, *done: Tick) -> None:
    """Store the record of ticks; a tick that has one is a `ConflictError`."""
    transaction.execute(sa.insert(ticks), [to_values(tick) for tick in done])


def _fetch(
    connection: sa.Connection, statement: sa.Select[Any], schedule_id: str, owner: str | None
) -> Schedule:
    statement = statement.where(_SHOWN, schedules.c.id == schedule_id)
    if owner is not None:
        statement = statement.where(schedules.c.owner == owner)
    row = connection.execute(statement).mappings().first()
    if row is None:
        raise NotFoundError(f"Schedule {schedule_id!r} not found.")
    return _read_schedule(row)


def _synchronize(transaction: Transaction, wanted: Sequence[Schedule]) -> None:
    known = {row["id"]: row for row in _fetch_of_files(transaction)}
    for schedule in wanted:
        row = known.pop(schedule.id, None)
        if row is None:
            transaction.execute(sa.insert(schedules), _to_row(schedule))
        elif (values := _merge(row, schedule)) != dict(row):
            transaction.execute(sa.update(schedules).where(schedules.c.id == schedule.id).values(values))
    gone = [each for each, row in known.items() if row["source"] == "file"]
    if gone:
        hidden = sa.update(schedules).where(schedules.c.id.in_(gone))
        transaction.execute(hidden.values(source="removed", enabled=False, next_at=None))


def _fetch_of_files(transaction: Transaction) -> Sequence[Mapping[Any, Any]]:
    statement = sa.select(schedules).where(schedules.c.source.in_(("file", "removed")))
    return transaction.execute(statement.with_for_update()).mappings().all()


def _merge(row: Mapping[Any, Any], schedule: Schedule) -> dict[str, Any]:
    """Return the values of a schedule whose file may have changed."""
    is_back = row["source"] == "removed"
    values = _to_row(replace(schedule, created_at=row["created_at"], enabled=is_back or row["enabled"]))
    same_times = (row["cron"], row["timezone"]) == (values["cron"], values["timezone"])
    if not values["enabled"] or (same_times and not is_back):
        values["next_at"] = row["next_at"]
    return values


def _to_row(schedule: Schedule) -> dict[str, Any]:
    return {
        **{name: getattr(schedule, name) for name in _OWN},
        "cron": schedule.cron.fields,
        "timezone": schedule.cron.zone,
        "request": schedule.request,
    }


def _read_schedule(row: Mapping[Any, Any]) -> Schedule:
    last: dict[str, Any] = {name: row.get(f"last_{name}") for name in Tick.__dataclass_fields__}
    return Schedule(
        **{name: row[name] for name in _OWN},
        **{name: row["request"].get(name) for name in REQUEST},
        cron=Cron(row["cron"], row["timezone"]),
        last=None if last["tick_at"] is None else Tick(**last),
    )
