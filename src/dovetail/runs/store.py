"""Stored runs and their journals.

Promises: events are stored in order and once; only the process that owns a run can add to it; the row of a
run becomes "ended" in the same transaction that stores its `run-end` and what its work saves.
"""

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import sqlalchemy as sa

from dovetail.errors import NotFoundError
from dovetail.events.cancel import CancelMode
from dovetail.events.model_events import TextDeltaEvent
from dovetail.events.run_events import RunEnd, RunStart
from dovetail.runs.ask_store import close_asks
from dovetail.runs.inbox import settle_mail, take_next
from dovetail.runs.journal import Block
from dovetail.runs.rows import decode_block, encode_block, read_record
from dovetail.runs.run import NextRun, RunPhase, RunRecord, RunSpec
from dovetail.runs.tally import to_columns
from dovetail.runs.writer import Batch
from dovetail.store.database import Database, SaveWork
from dovetail.store.spending import release_runs
from dovetail.store.tables import LONG_TEXT, asks, entries, inbox, run_shares, runs, to_values

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
STARTED = (
    sa.select(entries.c.time)
    .where(entries.c.run_id == runs.c.id)
    .order_by(entries.c.first)
    .limit(1)
    .correlate(runs)
    .scalar_subquery()
)
"""When a process began to work on a run: the time of its first event."""
_LAST = sa.case((runs.c.last_number > _STORED, runs.c.last_number), else_=_STORED)
"""The last number is computed: keeping it in a running run's row would cost an update with each batch."""
_END_BODY = (
    sa.select(entries.c.body)
    .where(entries.c.run_id == runs.c.id, entries.c.last == runs.c.last_number)
    .where(runs.c.state == "ended", runs.c.result.is_(None))
    .correlate(runs)
    .scalar_subquery()
)
_RUNS = sa.select(
    *(column for column in runs.c if column.name != "last_number"),
    _LAST.label("last_number"),
    STARTED.label("started_at"),
    _END_BODY.label("end"),
)
_RUN = _RUNS.where(_OF_RUN)
_WAITING = sa.select(sa.func.count()).where(inbox.c.session_id == sa.bindparam("session")).scalar_subquery()
_INSERT_RUN = sa.insert(runs).values(mail=_WAITING).returning(runs.c.mail)
_INSERT_ENTRIES = sa.insert(entries)
_INSERT_SHARES = sa.insert(run_shares)
_OWN = (
    sa.select(runs.c.id, runs.c.mail, runs.c.last_number, runs.c.state)
    .where(runs.c.id.in_(sa.bindparam("ids", expanding=True)), runs.c.process_id == sa.bindparam("process"))
    .order_by(runs.c.id)
    .with_for_update()
)
_STILL_OWN = sa.select(runs.c.id).where(
    runs.c.id.in_(sa.bindparam("ids", expanding=True)), runs.c.process_id == sa.bindparam("process")
)
_EXISTING = sa.select(runs.c.id).where(runs.c.id.in_(sa.bindparam("ids", expanding=True)))
_BOUNDS = (
    sa.select(entries)
    .join(runs, runs.c.id == entries.c.run_id)
    .where(runs.c.state == "running", entries.c.type.in_((RunStart.type, RunEnd.type)))
    .where(sa.cast(entries.c.path, sa.Text).like(sa.bindparam("ending")))
    .order_by(entries.c.last)
)
_BEGIN = (
    sa.update(runs)
    .where(_OF_RUN, runs.c.state == "running", runs.c.phase == "queued", runs.c.attempts == 0)
    .where(runs.c.process_id == sa.bindparam("process"), runs.c.cancel_mode.is_(None))
    .values(phase="working")
    .returning(runs.c.created_at)
)
_END = sa.update(runs).where(_OF_RUN).values(state="ended")
_IN_JOURNAL = entries.c.run_id == sa.bindparam("run")
_SAID = (
    sa.select(entries.c.first, entries.c.last, entries.c.body)
    .where(_IN_JOURNAL, entries.c.type == TextDeltaEvent.type)
    .where(sa.cast(entries.c.path, sa.Text) == sa.bindparam("own"))
)
"""What a run itself has said, without its children."""
_SAID_LAST = _SAID.where(entries.c.last < sa.bindparam("before")).order_by(entries.c.last.desc()).limit(_PAGE)
_SAID_BETWEEN = _SAID.where(
    entries.c.first >= sa.bindparam("from"), entries.c.last <= sa.bindparam("to")
).order_by(entries.c.last)
_NOTE_SAID = sa.update(entries).where(_IN_JOURNAL, entries.c.last == sa.bindparam("number"))
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
        self.on_follower: Callable[[str, NextRun], None] = lambda run_id, follower: None
        """Called after the end of a run with the one that has begun in the same transaction; it is queued."""

    async def create(
        self, run_id: str, spec: RunSpec, begin: SaveWork | None = None, *, phase: RunPhase = "working"
    ) -> int:
        """Store a run that this process starts or submits, together with what `begin` stores.

        Return how many messages wait in its session.
        """
        values = self._make_row(run_id, spec, phase)

        def create(connection: sa.Connection) -> int:
            if begin is not None:
                begin(connection)
            return connection.execute(_INSERT_RUN, values).scalar_one()

        return await self._database.write(create)

    def _make_row(self, run_id: str, spec: RunSpec, phase: RunPhase) -> dict[str, Any]:
        return {
            **to_values(spec),
            "id": run_id,
            "state": "running",
            "phase": phase,
            "process_id": self.process_id,
            "last_number": 0,
            "created_at": time.time(),
            "session": spec.session_id,
        }

    async def get(self, run_id: str) -> RunRecord:
        """Return the run with this id."""

        def read(connection: sa.Connection) -> RunRecord | None:
            row = connection.execute(_RUN, {"run": run_id}).mappings().first()
            return None if row is None else read_record(row, partial(_read_said, connection, run_id))

        record = await self._database.read(read)
        if record is None:
            raise NotFoundError(f"Run {run_id!r} not found.")
        return record

    async def find(self, *, limit: int = 1000, **values: str) -> list[RunRecord]:
        """Return the runs whose columns have these values, newest first."""
        statement = _RUNS.order_by(runs.c.created_at.desc(), runs.c.id.desc()).limit(limit)
        statement = statement.where(*(runs.c[name] == value for name, value in values.items()))

        def read(connection: sa.Connection) -> list[RunRecord]:
            rows = connection.execute(statement).mappings().all()
            return [read_record(row, partial(_read_said, connection, row["id"])) for row in rows]

        return await self._database.read(read)

    async def append(self, batches: Sequence[Batch]) -> list[str]:
        """Store the next blocks of several runs; return the runs that another process has taken over.

        The end of a run that was deleted counts as stored, and so does one that was stored before.
        """
        lost, mail, begun = await self._database.write(lambda connection: self._append(connection, batches))
        for run_id, count in mail.items():
            self.on_mail(run_id, count)
        for run_id, follower in begun.items():
            self.on_follower(run_id, follower)
        return lost

    async def load(self, run_id: str, after: int = 0) -> list[Block]:
        """Return the stored blocks that reach beyond `after`, one page at a time."""
        wanted = (entries.c.run_id == run_id) & (entries.c.last > after)
        statement = sa.select(entries).where(wanted).order_by(entries.c.last).limit(_PAGE)
        result = sa.select(runs.c.result).where(runs.c.id == run_id)

        def read(connection: sa.Connection) -> list[Block]:  # in the thread of the database: pages are large
            def find_result(said: Sequence[int] | None) -> Any:
                return _read_said(connection, run_id, said) if said else connection.scalar(result)

            rows = connection.execute(statement).mappings().all()
            return [decode_block(row, find_result) for row in rows]

        return await self._database.read(read)

    async def find_bounds(self, run_id: str) -> list[Block]:
        """Return the first event of a child of a run in progress, and its last one if it has ended."""

        def read(connection: sa.Connection) -> list[Block]:
            rows = connection.execute(_BOUNDS, {"ending": f'%"{run_id}"]'}).mappings().all()
            return [decode_block(row) for row in rows if row["path"][1:] and row["path"][-1] == run_id]

        return await self._database.read(read)

    async def holds(self, run_id: str, number: int) -> bool:
        """Whether an event with this number is stored; numbers that were skipped have none."""
        around = (entries.c.first <= number) & (entries.c.last >= number)
        statement = sa.select(sa.literal(1)).where(entries.c.run_id == run_id, around).limit(1)
        return await self._database.read(lambda connection: connection.scalar(statement) is not None)

    async def find_own(self, run_ids: Sequence[str]) -> set[str]:
        """Return those of the runs that belong to this process."""
        wanted = {"ids": list(run_ids), "process": self.process_id}
        return await self._database.read(lambda connection: set(connection.scalars(_STILL_OWN, wanted)))

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

    async def begin(self, run_id: str) -> float | None:
        """Begin a queued run of this process, and return when it was created.

        None if it was cancelled, taken or changed by another process.
        """
        values = {"run": run_id, "process": self.process_id}
        return await self._database.write(lambda connection: connection.scalar(_BEGIN, values))

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
    ) -> tuple[list[str], dict[str, int], dict[str, NextRun]]:
        wanted = {"ids": [batch.run_id for batch in batches], "process": self.process_id}
        own = {row.id: row for row in connection.execute(_OWN, wanted)}
        over = _find_over(connection, batches, own)
        floors: dict[str, int] = {row.id: row.last_number for row in own.values()}
        fresh = [batch for batch in batches if batch.run_id not in over]
        kept = [batch for batch in fresh if _is_of(floors.get(batch.run_id), batch)]
        if kept:
            rows = [
                {"run_id": batch.run_id, **encode_block(block)} for batch in kept for block in batch.blocks
            ]
            connection.execute(_INSERT_ENTRIES, rows)
            # The session before the run's state, in the order in which a new question takes them: two
            # transactions that take them the other way round wait for each other.
            _save(connection, kept)
            _end(connection, kept)
        mail: dict[str, int] = {row.id: row.mail for row in own.values() if row.mail}
        if mail:
            settle_mail(connection, [batch for batch in kept if batch.run_id in mail])
        begun: dict[str, NextRun] = {}
        for batch in kept:
            if (follower := batch.follower) is not None and take_next(connection, follower):
                connection.execute(_INSERT_RUN, self._make_row(follower.run_id, follower.spec, "queued"))
                begun[batch.run_id] = follower
        stored = {batch.run_id for batch in kept}
        return [batch.run_id for batch in fresh if batch.run_id not in stored], mail, begun


def _is_of(floor: int | None, batch: Batch) -> bool:
    """Whether events are those of the present attempt at a run of this process.

    Each take-over leaps over numbers: a run that has come back takes nothing that it left behind here. Its
    first event alone keeps its number, which cannot be stored twice.
    """
    first = batch.blocks[0].first
    return floor is not None and (first > floor or first == 1)


def _find_over(connection: sa.Connection, batches: Sequence[Batch], own: Mapping[str, Any]) -> set[str]:
    """Return those of the runs that end now and of which nothing is left to store.

    The run was deleted, or its end was stored before and the database's reply was lost.
    """
    ends = {batch.run_id: batch.blocks[-1].last for batch in batches if batch.is_last}
    known = [own[run_id] for run_id in ends.keys() & own.keys()]
    over = {row.id for row in known if row.state == "ended" and row.last_number == ends[row.id]}
    if foreign := ends.keys() - own.keys():
        over |= foreign - set(connection.scalars(_EXISTING, {"ids": list(foreign)}))
    return over


def _end(connection: sa.Connection, batches: Sequence[Batch]) -> None:
    ended: list[dict[str, Any]] = []
    for batch in batches:
        last = batch.blocks[-1]
        if batch.is_last and isinstance(last.event, RunEnd):
            values = {**asdict(last.event), **to_columns(last.event.usage)}
            if _is_said(connection, batch.run_id, last):
                values["result"] = None
            ended.append({"run": batch.run_id, "last_number": last.last, "ended_at": last.time, **values})
    if ended:
        connection.execute(_END, ended)
        release_runs(connection, [values["run"] for values in ended])
    shares = [
        {"run_id": batch.run_id, "agent": agent, "model": model, **to_columns(usage)}
        for batch in batches
        if batch.is_last and batch.journal.tally.is_shared
        for (agent, model), usage in batch.journal.tally.shares.items()
    ]
    if shares:
        connection.execute(_INSERT_SHARES, shares)


def _is_said(connection: sa.Connection, run_id: str, end: Block) -> bool:
    """Whether the result of a run is long and is the last that it has said; its end then notes where."""
    result = end.event.result if isinstance(end.event, RunEnd) else None
    if not isinstance(result, str) or len(result) < LONG_TEXT:
        return False
    said = _find_said(connection, run_id, result, end.first)
    if said is None:
        return False
    body = {**encode_block(end)["body"], "said": said}
    connection.execute(_NOTE_SAID, {"run": run_id, "number": end.last, "body": body})
    return True


def _find_said(connection: sa.Connection, run_id: str, text: str, end: int) -> list[int] | None:
    """Return the numbers between which a run has said a text last, and nothing else."""
    own, before, size = json.dumps([run_id]), end, 0
    pieces: list[str] = []
    while page := connection.execute(_SAID_LAST, {"run": run_id, "own": own, "before": before}).all():
        for row in page:
            pieces.append(row.body["delta"])
            size += len(pieces[-1])
            if size >= len(text):
                return [row.first, end] if "".join(pieces[::-1]) == text else None
        before = page[-1].last
    return None


def _read_said(connection: sa.Connection, run_id: str, said: Sequence[int]) -> str:
    """Return what a run has said between two numbers."""
    wanted = {"run": run_id, "own": json.dumps([run_id]), "from": said[0], "to": said[1]}
    return "".join(row.body["delta"] for row in connection.execute(_SAID_BETWEEN, wanted))


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
