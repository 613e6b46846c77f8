"""The link between processes on PostgreSQL: an advisory lock for each, news by LISTEN and NOTIFY.

The server itself ends the session of a process that shows no life for as long as its lease lasts, and with it
the lock: a frozen process, a hung event loop and a machine without network look like one that died.
"""

import asyncio
import json
import logging
import zlib
from collections.abc import Callable
from itertools import repeat
from typing import Any, Self

from dovetail.concurrency import retrying
from dovetail.errors import StoreError
from dovetail.lazy import lazy
from dovetail.store.address import to_asyncpg
from dovetail.store.database import Database
from dovetail.store.lease import Lease
from dovetail.store.session import configure_session

asyncpg = lazy("asyncpg", extra="server")
logger = logging.getLogger(__name__)

_CHANNEL = "dovetail"
_UNHEARD = "dovetail_unheard"
_LOCKS = 0x0D0E7A12
_PAUSE = 0.5
_LONGEST_STATEMENT = 10.0
_LONGEST_NEWS = 7000
_NOTIFY = "SELECT pg_notify($1, $2)"
_HELD = """
    SELECT objid::bigint FROM pg_locks
    WHERE locktype = 'advisory' AND classid = $1 AND objsubid = 2 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
_FREE = """
    SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
    WHERE datname = current_database() AND usename = current_user AND application_name LIKE 'dovetail%'
    AND state = 'active' AND wait_event = 'ClientRead'
    AND state_change < clock_timestamp() - make_interval(secs => $1)
"""
"""Ends sessions whose client stopped between preparing a statement and executing it: no timeout does."""
_NEVER = 1e6


class PostgresLink:
    """A connection that holds the lock, listens and sends; it is reopened when it breaks."""

    def __init__(self, database: Database, process_id: str, takeover: float | None = None) -> None:
        self.process_id = process_id
        self.on_news: Callable[[str, str], None] = lambda kind, subject: None
        self.on_gap: Callable[[], None] = lambda: None
        self.on_death: Callable[[], None] = lambda: None
        self._lease = Lease(takeover)
        self._address = to_asyncpg(database.url)
        self._outgoing: asyncio.Queue[str] = asyncio.Queue()
        self._turn = asyncio.Lock()
        self._connection: Any = None
        self._keeper: asyncio.Task[None] | None = None
        self._held: set[int] = set()
        self._looks_at = 0.0

    async def __aenter__(self) -> Self:
        moment = self._lease.begin()
        await self._connect()
        self._lease.renew(moment)
        self._keeper = asyncio.create_task(self._keep())
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait([self._keeper])
        if self._connection is not None:
            await self._connection.close(timeout=2)

    @property
    def life(self) -> int | None:
        """The number of this life; None while this process may count as dead."""
        return None if self._is_cut_off else self._lease.life

    async def renew(self) -> int:
        """Show that this process is alive, and return its life; raise `StoreError` if it cannot."""
        if self.life is None:
            await self._send(None)
        if (life := self.life) is None:
            raise StoreError("The connection to the other processes is lost.")
        return life

    def announce(self, kind: str, subject: str) -> None:
        """Send news to the other processes; return at once."""
        news = json.dumps([self.process_id, kind, subject])
        if len(news) <= _LONGEST_NEWS:
            self._outgoing.put_nowait(news)

    async def is_alive(self, process_id: str) -> bool:
        """Whether another process holds its lock; True while the database cannot be asked."""
        if process_id == self.process_id:
            return True
        try:
            async with self._turn:
                if _to_object(process_id) in await self._fetch_held():
                    return True
                await self._connection.fetch(_FREE, (self._lease.seconds or _NEVER) / 2)
                return False
        except _failures() as error:
            logger.warning("cannot check which processes are alive: %s", error)
            return True

    @property
    def _is_cut_off(self) -> bool:
        return self._connection is None or self._connection.is_closed()

    async def _connect(self) -> None:
        settings = {"application_name": f"dovetail {self.process_id}"}
        # Statements are prepared once and before the lock is taken: the server does not end the session of a
        # process that stops between a statement's preparation and its execution.
        connection = await asyncpg.connect(
            self._address, timeout=10, server_settings=settings, max_cached_statement_lifetime=0
        )
        try:
            await configure_session(connection, lease=self._lease.seconds)
            await connection.fetch(_HELD, _LOCKS)
            await connection.execute(_NOTIFY, _UNHEARD, "")
            await connection.fetch(_FREE, _NEVER)
            await connection.add_listener(_CHANNEL, self._hear)
            # Shared: a session of this process that the server still takes for alive does not hinder.
            lock = f"SELECT pg_advisory_lock_shared({_LOCKS}, {_lock_key(self.process_id)})"
            await connection.execute(lock, timeout=_LONGEST_STATEMENT)
        except BaseException:
            connection.terminate()
            raise
        self._connection = connection

    async def _keep(self) -> None:
        """Send queued news, show that this process is alive, and reopen the connection when it breaks."""
        while True:
            news = await self._next_news()
            async for _ in retrying(repeat(_PAUSE)):
                if await self._send(news):
                    break

    async def _next_news(self) -> str | None:
        try:
            async with asyncio.timeout(self._lease.interval):
                return await self._outgoing.get()
        except TimeoutError:
            return None

    async def _send(self, news: str | None) -> bool:
        """Send news, or only look who is alive; both show that this process is."""
        try:
            async with self._turn:
                if self._is_cut_off:
                    self._lease.end()
                    await self._connect()
                moment = self._lease.begin()
                if news is not None:
                    await self._connection.execute(_NOTIFY, _CHANNEL, news, timeout=_LONGEST_STATEMENT)
                if news is None or moment[0] >= self._looks_at:
                    self._looks_at = moment[0] + self._lease.interval
                    await self._look()
        except _failures() as error:
            logger.warning("lost the connection to the other processes: %s", error)
            if self._connection is not None:
                self._connection.terminate()  # nothing can be expected of it any more
            return False
        if self._lease.renew(moment):
            self.on_gap()
        return True

    async def _look(self) -> None:
        """Look which processes hold their locks, and report that one does not any more."""
        held = await self._fetch_held()
        has_lost, self._held = bool(self._held - held), held
        if has_lost:
            self.on_death()

    async def _fetch_held(self) -> set[int]:
        rows = await self._connection.fetch(_HELD, _LOCKS, timeout=_LONGEST_STATEMENT)
        return {row[0] for row in rows}

    def _hear(self, connection: object, process: int, channel: str, payload: str) -> None:
        sender, kind, subject = json.loads(payload)
        if sender != self.process_id:
            self.on_news(kind, subject)


def _failures() -> tuple[type[Exception], ...]:
    known = asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError
    return OSError, TimeoutError, *known


def _lock_key(process_id: str) -> int:
    """Return a key for an advisory lock; a collision only delays the recovery of a run."""
    return zlib.crc32(process_id.encode()) - 2**31


def _to_object(process_id: str) -> int:
    """Return the key as PostgreSQL lists it among its locks."""
    return _lock_key(process_id) & 0xFFFFFFFF
