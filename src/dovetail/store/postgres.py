"""The link between processes on PostgreSQL: an advisory lock for each, news by LISTEN and NOTIFY."""

import asyncio
import json
import logging
import zlib
from collections.abc import Callable
from itertools import repeat
from typing import Any, Self

from dovetail.concurrency import retrying
from dovetail.lazy import lazy
from dovetail.store.address import to_asyncpg
from dovetail.store.database import Database

asyncpg = lazy("asyncpg", extra="server")
logger = logging.getLogger(__name__)

_CHANNEL = "dovetail"
_LOCKS = 0x0D0E7A12
_PAUSE = 0.5
_CHECK_SECONDS = 2.0
_LONGEST_NEWS = 7000


class PostgresLink:
    """A connection that holds the lock, listens and sends; it is reopened when it breaks."""

    def __init__(self, database: Database, process_id: str) -> None:
        self.process_id = process_id
        self.on_news: Callable[[str, str], None] = lambda kind, subject: None
        self.on_gap: Callable[[], None] = lambda: None
        self._address = to_asyncpg(database.url)
        self._outgoing: asyncio.Queue[str] = asyncio.Queue()
        self._turn = asyncio.Lock()
        self._connection: Any = None
        self._keeper: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await self._connect()
        self._keeper = asyncio.create_task(self._keep())
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait([self._keeper])
        if self._connection is not None:
            await self._connection.close(timeout=2)

    def announce(self, kind: str, subject: str) -> None:
        """Send news to the other processes; return at once."""
        news = json.dumps([self.process_id, kind, subject])
        if len(news) <= _LONGEST_NEWS:
            self._outgoing.put_nowait(news)

    async def is_alive(self, process_id: str) -> bool:
        """Whether another process holds its lock; True while the database cannot be asked."""
        if process_id == self.process_id:
            return True
        key = _lock_key(process_id)
        try:
            async with self._turn:
                if not await self._connection.fetchval("SELECT pg_try_advisory_lock($1, $2)", _LOCKS, key):
                    return True
                await self._connection.execute("SELECT pg_advisory_unlock($1, $2)", _LOCKS, key)
        except _failures() as error:
            logger.warning("cannot check which processes are alive: %s", error)
            return True
        return False

    async def _connect(self) -> None:
        settings = {"application_name": f"dovetail {self.process_id}"}
        self._connection = await asyncpg.connect(self._address, timeout=10, server_settings=settings)
        await self._connection.add_listener(_CHANNEL, self._hear)
        key = _lock_key(self.process_id)
        await self._connection.execute("SELECT pg_advisory_lock($1, $2)", _LOCKS, key)

    async def _keep(self) -> None:
        """Send queued news; reopen the connection when it breaks."""
        while True:
            news = await self._next_news()
            async for _ in retrying(repeat(_PAUSE)):
                if await self._send(news):
                    break

    async def _next_news(self) -> str | None:
        try:
            async with asyncio.timeout(_CHECK_SECONDS):
                return await self._outgoing.get()
        except TimeoutError:
            return None

    async def _send(self, news: str | None) -> bool:
        """Send news, or only check the connection."""
        try:
            async with self._turn:
                if self._connection.is_closed():
                    await self._connect()
                    self.on_gap()
                statement = ("SELECT pg_notify($1, $2)", _CHANNEL, news) if news else ("SELECT 1",)
                await self._connection.execute(*statement, timeout=10)
        except _failures() as error:
            logger.warning("lost the connection to the other processes: %s", error)
            return False
        return True

    def _hear(self, connection: object, process: int, channel: str, payload: str) -> None:
        sender, kind, subject = json.loads(payload)
        if sender != self.process_id:
            self.on_news(kind, subject)


def _failures() -> tuple[type[Exception], ...]:
    return OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError


def _lock_key(process_id: str) -> int:
    """Return a key for an advisory lock; a collision only delays the recovery of a run."""
    return zlib.crc32(process_id.encode()) - 2**31
