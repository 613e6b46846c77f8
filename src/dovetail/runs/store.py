"""Stored runs and their journals.

Promises: events are stored in order and once; only the process that owns a run can add to it; the row of a
run becomes "ended" in the same transaction that stores its `run-end` and what its work saves.
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import sqlalchemy as sa

from dovetail.errors import NotFoundError
from dovetail.events.cancel import CancelMode
from dovetail.events.run_events import RunEnd
from dovetail.runs.ask_store import close_asks
from dovetail.runs.inbox import settle_mail
from dovetail.runs.journal import Block
from dovetail.runs.rows import decode_block, encode_block, read_record
from dovetail.runs.run import RunPhase, RunRecord, RunSpec
from dovetail.runs.tally import to_columns
from dovetail.runs.writer import Batch
from dovetail.store.database import Database, SaveWork
from dovetail.store.tables import asks, entries, inbox, run_shares, runs, to_values

logger = logging.getLogger(__name__)
LEAP = 100_000
"""More numbers than a run can have shown to its readers without storing them."""

_PAGE = 500

_OF_RUN = runs.c.id == sa.bindparam("run")
_STORED = (
    sa.select(sa.func.coalesce(sa.func.max(entries.c.last), 0))
    .where(entries.c.run_id == runs.c.id)
    .correlate(runs)
    .scalar_subquery()
)
_LAST = sa.case((runs.c.last_number > _STORED, runs.c.last_number), else_=_STORED)
"""The last number is computed: keeping it in a running run's row would cost an update with each batch."""
_RUNS = sa.select(*(column for column in runs.c if column.name != "last_number"), _LAST.label("last_number"))
_RUN = _RUNS.where(_OF_RUN)
_WAITING = sa.select(sa.func.count()).where(inbox.c.session_id == sa.bindparam("session")).scalar_subquery()
_INSERT_RUN = sa.insert(runs).values(mail=_WAITING).returning(runs.c.mail)
_INSERT_ENTRIES = sa.insert(entries)
_INSERT_SHARES = sa.insert(run_shares)
_OWN = (
    sa.select(runs.c.id, runs.c.mail)
    .where(runs.c.id.in_(sa.bindparam("ids", expanding=True)), runs.c.process_id == sa.bindparam("process"))
    .order_by(runs.c.id)
    .with_for_update()
)
_BEGIN = (
    sa.update(runs)
    .where(_OF_RUN, runs.c.state == "running", runs.c.phase == "queued", runs.c.attempts == 0)
    .where(runs.c.process_id == sa.bindparam("process"), runs.c.cancel_mode.is_(None))
    .values(phase="working")
)
_END = sa.update(runs).where(_OF_RUN).values(state="ended")
_OPEN_ASKS = (
    sa.select(sa.func.count())
    .where(asks.c.run_id == runs.c.id, asks.c.state == "open")
    .correlate(runs)
    .scalar_subquery()
)
_CAN_CONTINUE = (runs.c.waits_for > _OPEN_ASKS) | runs.c.cancel_mode.is_not(None)
"""Whether something has happened since the run began to wait."""


class RunStore:
    """Runs in a database, as one process sees them."""

    def __init__(self, database: Database, process_id: str) -> None:
        self._database = database
        self.process_id = process_id
        self.on_mail: Callable[[str, int], None] = lambda run_id, count: None
        """Called, as events of a run are stored, with the number of messages sent to it, if there are any."""

    async def create(
        self, run_id: str, spec: RunSpec, begin: SaveWork | None = None, *, phase: RunPhase = "working"
    ) -> int:
        """Store a run that this process starts or submits, together with what `begin` stores.

        Return how many messages wait in its session.
        """
        values = {
            **to_values(spec),
            "id": run_id,
            "state": "running",
            "phase": phase,
            "process_id": self.process_id,
            "last_number": 0,
            "created_at": time.time(),
            "session": spec.session_id,
        }

        def create(connection: sa.Connection) -> int:
            if begin is not None:
                begin(connection)
            return connection.execute(_INSERT_RUN, values).scalar_one()

        return await self._database.write(create)

    async def get(self, run_id: str) -> RunRecord:
        """Return the run with this id."""
        row = await self._database.read(
            lambda connection: connection.execute(_RUN, {"run": run_id}).mappings().first()
        )
        if row is None:
            raise NotFoundError(f"Run {run_id!r} not found.")
        return read_record(row)

    async def find(self, *, limit: int = 1000, **values: str) -> list[RunRecord]:
        """Return the runs whose columns have these values, newest first."""
        statement = _RUNS.order_by(runs.c.created_at.desc(), runs.c.id.desc()).limit(limit)
        statement = statement.where(*(runs.c[name] == value for name, value in values.items()))
        rows = await self._database.read(lambda connection: connection.execute(statement).mappings().all())
        return [read_record(row) for row in rows]

    async def append(self, batches: Sequence[Batch]) -> list[str]:
        """Store the next blocks of several runs; return the runs that another process has taken over."""
        lost, mail = await self._database.write(lambda connection: self._append(connection, batches))
        for run_id, count in mail.items():
            self.on_mail(run_id, count)
        return lost

    async def load(self, run_id: str, after: int = 0) -> list[Block]:
        """Return the stored blocks that reach beyond `after`, one page at a time."""
        wanted = (entries.c.run_id == run_id) & (entries.c.last > after)
        statement = sa.select(entries).where(wanted).order_by(entries.c.last).limit(_PAGE)
        rows = await self._database.read(lambda connection: connection.execute(statement).mappings().all())
        return [decode_block(row) for row in rows]

    async def holds(self, run_id: str, number: int) -> bool:
        """Whether an event with this number is stored; numbers that were skipped have none."""
        around = (entries.c.first <= number) & (entries.c.last >= number)
        statement = sa.select(sa.literal(1)).where(entries.c.run_id == run_id, around).limit(1)
        return await self._database.read(lambda connection: connection.scalar(statement) is not None)

    async def find_processes(self) -> list[str]:
        """Return the processes that runs in progress belong to."""
        statement = sa.select(runs.c.process_id).where(runs.c.state == "running", runs.c.phase != "waiting")
        return await self._database.read(lambda connection: list(connection.scalars(statement.distinct())))

    async def find_ids(self, **values: str) -> list[str]:
        """Return the ids of the running runs whose columns have these values, oldest first."""
        wanted = (runs.c[name] == value for name, value in values.items())
        statement = (
            sa.select(runs.c.id)
            .where(runs.c.state == "running", *wanted)
            .order_by(runs.c.created_at, runs.c.id)
        )
        return await self._database.read(lambda connection: list(connection.scalars(statement)))

    async def take_over(self, record: RunRecord) -> int | None:
        """Take over a run of a dead process, or one that none works on; None if another was faster.

        Return the number after which its events continue; readers may have seen numbers up to it on events
        that a dead process never stored, so these are not used again.
        """
        number = _LAST + LEAP if record.phase == "working" else _LAST
        values = {"process_id": self.process_id, "phase": "working", "last_number": number}
        return await self._change(record, values, runs.c.last_number)

    async def begin(self, run_id: str) -> bool:
        """Begin a queued run of this process; False if it was cancelled, taken or changed by another one."""
        values = {"run": run_id, "process": self.process_id}
        return await self._database.write(
            lambda connection: bool(connection.execute(_BEGIN, values).rowcount)
        )

    async def adopt(self, record: RunRecord) -> bool:
        """Submit a queued run in place of a dead process; False if another process does."""
        return await self._change(record, {"process_id": self.process_id}, runs.c.id) is not None

    async def park(self, run_id: str, *, waits_for: int) -> bool:
        """Let a run of this process wait for answers; return whether it can continue already."""
        own = (runs.c.id == run_id) & (runs.c.state == "running") & (runs.c.process_id == self.process_id)
        values = {"process_id": None, "phase": "waiting", "waits_for": waits_for}

        def park(connection: sa.Connection) -> bool:
            connection.execute(sa.update(runs).where(own).values(values))
            return bool(connection.scalar(sa.select(_CAN_CONTINUE).where(runs.c.id == run_id)))

        return await self._database.write(park)

    async def requeue(self, run_id: str) -> bool:
        """Make a waiting run a queued one, with one attempt more; False if it was not waiting."""
        waiting = (runs.c.id == run_id) & (runs.c.state == "running") & (runs.c.phase == "waiting")
        values = {"phase": "queued", "process_id": self.process_id, "attempts": runs.c.attempts + 1}
        statement = sa.update(runs).where(waiting).values(values)
        return await self._database.write(lambda connection: bool(connection.execute(statement).rowcount))

    async def count_unattended(self) -> dict[str, int]:
        """Return how many runs are queued, and how many wait for answers, by phase."""
        unattended = (runs.c.state == "running") & (runs.c.phase != "working")
        statement = sa.select(runs.c.phase, sa.func.count()).where(unattended).group_by(runs.c.phase)
        rows = await self._database.read(lambda connection: connection.execute(statement).all())
        return {row[0]: row[1] for row in rows}

    async def find_ready(self) -> list[str]:
        """Return the waiting runs that can continue: an answer has come, or they are cancelled."""
        waiting = (runs.c.state == "running") & (runs.c.phase == "waiting")
        statement = sa.select(runs.c.id).where(waiting, _CAN_CONTINUE)
        return await self._database.read(lambda connection: list(connection.scalars(statement)))

    async def _change(self, record: RunRecord, values: Mapping[str, Any], wanted: sa.Column[Any]) -> Any:
        """Change a run unless it has changed since it was read; return a column of it, None if it has."""
        same = (runs.c.id == record.id) & (runs.c.state == "running") & (runs.c.phase == record.phase)
        statement = sa.update(runs).where(same, runs.c.process_id == record.process_id).values(values)
        return await self._database.write(lambda connection: connection.scalar(statement.returning(wanted)))

    async def request_cancel(self, run_id: str, mode: CancelMode) -> bool:
        """Ask the process that owns a run to cancel it; False if the run has ended."""
        running = (runs.c.id == run_id) & (runs.c.state == "running")
        statement = sa.update(runs).where(running).values(cancel_mode=mode)
        return await self._database.write(lambda connection: bool(connection.execute(statement).rowcount))

    def _append(
        self, connection: sa.Connection, batches: Sequence[Batch]
    ) -> tuple[list[str], dict[str, int]]:
        wanted = {"ids": [batch.run_id for batch in batches], "process": self.process_id}
        own: dict[str, int] = {row.id: row.mail for row in connection.execute(_OWN, wanted)}
        kept = [batch for batch in batches if batch.run_id in own]
        if kept:
            rows = [
                {"run_id": batch.run_id, **encode_block(block)} for batch in kept for block in batch.blocks
            ]
            connection.execute(_INSERT_ENTRIES, rows)
            # The session before the run's state, in the order in which a new question takes them: two
            # transactions that take them the other way round wait for each other.
            _save(connection, kept)
            _end(connection, kept)
        mail = {run_id: count for run_id, count in own.items() if count}
        if mail:
            settle_mail(connection, [batch for batch in kept if batch.run_id in mail])
        return [batch.run_id for batch in batches if batch.run_id not in own], mail


def _end(connection: sa.Connection, batches: Sequence[Batch]) -> None:
    ended: list[dict[str, Any]] = []
    for batch in batches:
        last = batch.blocks[-1]
        if batch.is_last and isinstance(last.event, RunEnd):
            values = {**asdict(last.event), **to_columns(last.event.usage)}
            ended.append({"run": batch.run_id, "last_number": last.last, "ended_at": last.time, **values})
    if ended:
        connection.execute(_END, ended)
    shares = [
        {"run_id": batch.run_id, "agent": agent, "model": model, **to_columns(usage)}
        for batch in batches
        if batch.is_last and batch.journal.tally.is_shared
        for (agent, model), usage in batch.journal.tally.shares.items()
    ]
    if shares:
        connection.execute(_INSERT_SHARES, shares)


def _save(connection: sa.Connection, batches: Sequence[Batch]) -> None:
    """Store what the work of ended runs saves, and cancel their open asks."""
    asking = [batch.run_id for batch in batches if batch.is_last and batch.journal.has_asked]
    if asking:
        close_asks(connection, asking)
    for batch in batches:
        if batch.save is not None:
            try:
                batch.save(connection)
            except NotFoundError as error:
                logger.warning(
                    "run %s: its session was deleted; result discarded: %s", batch.run_id, error.message
                )
