"""Keeps runs and their journals.

Promises: events are stored in order and once; only the process that a run belongs to can add to it; the row
of a run says "ended" in the same transaction that stores its `run-end`.
"""

import time
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from dovetail.errors import NotFoundError
from dovetail.messages.cancel import CancelMode
from dovetail.messages.delta import Usage
from dovetail.messages.event import RunEnd
from dovetail.runs.block import Block
from dovetail.runs.codec import decode_block, encode_block
from dovetail.runs.run import RunOutcome, RunRecord, RunSpec
from dovetail.store.database import Database
from dovetail.store.tables import entries, runs

_PAGE = 500


class RunStore:
    """Runs in a database, as one process sees them."""

    def __init__(self, database: Database, process_id: str) -> None:
        self._database = database
        self.process_id = process_id

    async def create(self, run_id: str, spec: RunSpec) -> None:
        """Store a run that begins here."""
        values = {
            **asdict(spec),
            "id": run_id,
            "input": dict(spec.input),
            "state": "running",
            "process_id": self.process_id,
            "last_number": 0,
            "created_at": time.time(),
        }
        async with self._database.write() as connection:
            await connection.execute(sa.insert(runs).values(values))

    async def get(self, run_id: str) -> RunRecord:
        """The run with this id."""
        async with self._database.read() as connection:
            row = (await connection.execute(sa.select(runs).where(runs.c.id == run_id))).mappings().first()
        if row is None:
            raise NotFoundError(f"no run {run_id!r}")
        return _read_record(row)

    async def find(self, *, limit: int = 1000, **values: str) -> list[RunRecord]:
        """Runs whose columns have these values, the newest first."""
        statement = sa.select(runs).order_by(runs.c.created_at.desc(), runs.c.id.desc()).limit(limit)
        statement = statement.where(*(runs.c[name] == value for name, value in values.items()))
        async with self._database.read() as connection:
            return [_read_record(row) for row in (await connection.execute(statement)).mappings()]

    async def append(self, batches: Iterable[tuple[str, list[Block]]]) -> list[str]:
        """Store the next blocks of several runs; returns the runs that belong to another process by now."""
        lost: list[str] = []
        rows: list[dict[str, Any]] = []
        async with self._database.write() as connection:
            for run_id, blocks in batches:
                if await self._advance(connection, run_id, blocks[-1]):
                    rows += [{"run_id": run_id, **encode_block(block)} for block in blocks]
                else:
                    lost.append(run_id)
            if rows:
                await connection.execute(sa.insert(entries), rows)
        return lost

    async def load(self, run_id: str, after: int = 0) -> list[Block]:
        """Stored blocks that reach beyond `after`, a page at once."""
        wanted = (entries.c.run_id == run_id) & (entries.c.last > after)
        statement = sa.select(entries).where(wanted).order_by(entries.c.last).limit(_PAGE)
        async with self._database.read() as connection:
            return [decode_block(row) for row in (await connection.execute(statement)).mappings()]

    async def take_over(self, record: RunRecord) -> bool:
        """Make a run of a dead process one of this process; False when another was faster."""
        same = (runs.c.id == record.id) & (runs.c.state == "running")
        statement = sa.update(runs).where(same, runs.c.process_id == record.process_id)
        async with self._database.write() as connection:
            taken = await connection.execute(statement.values(process_id=self.process_id))
        return bool(taken.rowcount)

    async def request_cancel(self, run_id: str, mode: CancelMode) -> bool:
        """Note that a run shall stop, for the process that it belongs to; False when it has ended."""
        running = (runs.c.id == run_id) & (runs.c.state == "running")
        async with self._database.write() as connection:
            noted = await connection.execute(sa.update(runs).where(running).values(cancel_mode=mode))
        return bool(noted.rowcount)

    async def _advance(self, connection: AsyncConnection, run_id: str, last: Block) -> bool:
        values: dict[str, Any] = {"last_number": last.last}
        if isinstance(last.event, RunEnd) and len(last.path) == 1:
            values |= asdict(last.event) | {"state": "ended", "ended_at": last.time}
        own = (runs.c.id == run_id) & (runs.c.process_id == self.process_id)
        return bool((await connection.execute(sa.update(runs).where(own).values(values))).rowcount)


def _read_record(row: Any) -> RunRecord:
    spec = {
        name: row[name]
        for name in ("agent", "model", "generation", "owner", "session_id", "message_id", "input")
    }
    outcome = None
    if row["state"] == "ended":
        outcome = RunOutcome(
            reason=row["reason"],
            result=row["result"],
            usage=Usage.read(row["usage"]),
            error=row["error"],
        )
    return RunRecord(
        id=row["id"],
        spec=RunSpec(**spec),
        state=row["state"],
        outcome=outcome,
        last_number=row["last_number"],
        created_at=row["created_at"],
        ended_at=row["ended_at"],
        process_id=row["process_id"],
        cancel_mode=row["cancel_mode"],
    )
