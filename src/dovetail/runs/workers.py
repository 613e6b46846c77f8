"""The processes that share a database: what each of them is, when it last showed itself, what it works on.

A process says what it is when it opens the database, and signs its row every half minute. Whether it is alive
does not depend on that: it is as long as it holds its lock (`store/processes.py`).
"""

import asyncio
import logging
import os
import platform
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import sqlalchemy as sa

from dovetail.errors import StoreError
from dovetail.settings.sections import RunSettings
from dovetail.store.database import Database
from dovetail.store.processes import ProcessLink
from dovetail.store.tables import processes, runs

logger = logging.getLogger(__name__)
ProcessRole: TypeAlias = Literal["web", "worker", "program"]
SIGN_INTERVAL = 30.0
_LEAVE_SECONDS = 2.0
_KEPT = 24 * 3600
"""Seconds for which a process that has died is still listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A process of the service; `runs` is how many it works on."""

    id: str
    host: str
    pid: int
    role: ProcessRole
    engine: str
    queues: tuple[str, ...]
    started_at: float
    seen_at: float
    is_alive: bool
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """The runs of a queue that have not ended."""

    name: str
    queued: int
    working: int
    waiting: int


class ProcessTable:
    """The processes of a database, as one of them sees and shows itself."""

    def __init__(self, database: Database, link: ProcessLink, settings: RunSettings) -> None:
        self._database = database
        self._link = link
        self._settings = settings
        self._own = processes.c.id == link.process_id

    @asynccontextmanager
    async def showing(self, role: ProcessRole, *, works: bool = True) -> AsyncGenerator[None]:
        """Show this process to the others; it is taken off the list at the end."""
        await self._enter(role, works)
        signing = asyncio.create_task(self._keep_signing())
        try:
            yield
        finally:
            signing.cancel()
            with suppress(StoreError, TimeoutError):  # without a database the others see that it is gone
                async with asyncio.timeout(_LEAVE_SECONDS):
                    await self._database.write(lambda connection: _do(connection, self._leave))

    async def sign(self) -> None:
        """Show that this process is at work."""
        seen = sa.update(processes).where(self._own).values(seen_at=time.time())
        await self._database.write(lambda connection: _do(connection, seen))

    @property
    def _leave(self) -> sa.Delete:
        return sa.delete(processes).where(self._own)

    async def _enter(self, role: ProcessRole, works: bool) -> None:
        now = time.time()
        row = {
            "id": self._link.process_id,
            "host": platform.node(),
            "pid": os.getpid(),
            "role": role,
            "engine": self._settings.engine,
            "queues": list(self._settings.queues) if works else [],
            "started_at": now,
            "seen_at": now,
        }
        forgotten = sa.delete(processes).where((processes.c.seen_at < now - _KEPT) | self._own)
        entered = sa.insert(processes).values(row)
        await self._database.write(lambda connection: _do(connection, forgotten, entered))

    async def _keep_signing(self) -> None:
        while True:
            await asyncio.sleep(SIGN_INTERVAL)
            try:
                await self.sign()
            except StoreError as error:
                logger.debug("cannot show that this process is at work: %s", error.message)

    async def list_processes(self) -> list[Process]:
        """Return the processes, the oldest first, and those that died without taking their leave."""
        working = sa.select(runs.c.process_id, sa.func.count()).where(
            runs.c.state == "running", runs.c.phase == "working"
        )
        listed = sa.select(processes).order_by(processes.c.started_at, processes.c.id)

        def read(connection: sa.Connection) -> tuple[list[Any], dict[str, int]]:
            counts = {row[0]: row[1] for row in connection.execute(working.group_by(runs.c.process_id))}
            return list(connection.execute(listed).mappings().all()), counts

        rows, counts = await self._database.read(read)
        found: list[Process] = []
        for row in rows:
            is_own = row["id"] == self._link.process_id
            alive = is_own or await self._link.is_alive(row["id"])
            values: dict[str, Any] = {**row, "queues": tuple(row["queues"])}
            found.append(Process(**values, is_alive=alive, runs=counts.get(row["id"], 0)))
        return found

    async def list_queues(self) -> list[Queue]:
        """Return how many runs of each queue have not ended, by what they do."""
        statement = (
            sa.select(runs.c.queue, runs.c.phase, sa.func.count())
            .where(runs.c.state == "running")
            .group_by(runs.c.queue, runs.c.phase)
        )
        rows = await self._database.read(lambda connection: connection.execute(statement).all())
        counts: dict[str, dict[str, int]] = {}
        for name, phase, count in rows:
            counts.setdefault(name, {"queued": 0, "working": 0, "waiting": 0})[phase] = count
        return [Queue(name=name, **counts[name]) for name in sorted(counts)]


def _do(connection: sa.Connection, *statements: sa.Executable) -> None:
    for statement in statements:
        connection.execute(statement)
