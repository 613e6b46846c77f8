"""The databases of cells: each can be away for a while, and can be kept from storing one result."""

import asyncio
import sqlite3
import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg

from postgres import make_database, start_server
from resume.machine import Machine
from resume.proxy import Proxy

_starting = threading.Lock()
ROOM = 4096
"""The size of files on a full disk."""


class Storage(ABC):
    """A database with its faults."""

    url: str

    @abstractmethod
    def go_away(self, machines: Sequence[Machine]) -> None:
        """Let every write of these processes fail, and with PostgreSQL every read."""

    @abstractmethod
    def come_back(self, machines: Sequence[Machine]) -> None:
        """End this."""

    @abstractmethod
    async def hold_result(
        self, text: str, go: Callable[[], None], seen: Callable[[], Awaitable[Any]]
    ) -> None:
        """Call `go`; return when a result with this text exists and is not stored; `seen` waits for it."""

    @abstractmethod
    def release(self) -> None:
        """Let results be stored again."""

    async def open_way(self) -> tuple[str, Proxy | None]:
        """Return the address for a new process, and the proxy that only its connections go through."""
        return self.url, None

    @abstractmethod
    async def execute(self, statement: str) -> None:
        """Execute an SQL statement, for what would otherwise take hours."""

    @abstractmethod
    async def fetch(self, query: str) -> list[Any]:
        """Return the first column of what an SQL query finds."""

    @abstractmethod
    async def find_damage(self) -> list[str]:
        """Return what the database itself says about its state."""


class SqliteStorage(Storage):
    """A file; away means that its disk is full."""

    def __init__(self, path: Path) -> None:
        self.url = f"sqlite:///{path}"
        self._path = path
        self._lock: sqlite3.Connection | None = None

    def go_away(self, machines: Sequence[Machine]) -> None:
        """Let no file of the processes grow."""
        for machine in machines:
            machine.limit_files(ROOM)

    def come_back(self, machines: Sequence[Machine]) -> None:
        """Give the processes space again."""
        for machine in machines:
            machine.limit_files(None)

    async def hold_result(
        self, text: str, go: Callable[[], None], seen: Callable[[], Awaitable[Any]]
    ) -> None:
        """Lock the file, so that the result that clients see is not stored."""
        self._lock = sqlite3.connect(self._path, isolation_level=None, timeout=10)
        self._lock.execute("BEGIN IMMEDIATE")
        go()
        await seen()

    def release(self) -> None:
        """Unlock the file."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    async def execute(self, statement: str) -> None:
        """Execute an SQL statement."""
        connection = sqlite3.connect(self._path, timeout=10)
        with connection:
            connection.execute(statement)
        connection.close()

    async def fetch(self, query: str) -> list[Any]:
        """Return the first column of what an SQL query finds."""
        connection = sqlite3.connect(self._path, timeout=10)
        try:
            return [row[0] for row in connection.execute(query)]
        finally:
            connection.close()

    async def find_damage(self) -> list[str]:
        """Check the pages of the file and its foreign keys."""
        connection = sqlite3.connect(self._path, timeout=10)
        try:
            pages = [row[0] for row in connection.execute("PRAGMA integrity_check")]
            keys = connection.execute("PRAGMA foreign_key_check").fetchall()
        finally:
            connection.close()
        return [*(page for page in pages if page != "ok"), *map(str, keys)]


class PostgresStorage(Storage):
    """A database on a real server, behind a proxy that can be cut."""

    def __init__(self, direct: str, socket_path: str, ways: AsyncExitStack) -> None:
        self.url = self._direct = direct
        self._socket_path = socket_path
        self._ways = ways
        self._proxies: list[Proxy] = []

    async def open_way(self) -> tuple[str, Proxy | None]:
        """Return the address of a new proxy."""
        proxy = await self._ways.enter_async_context(Proxy(self._socket_path))
        self._proxies.append(proxy)
        name = self._direct.split("?")[0].rsplit("/", 1)[-1]
        return f"postgresql://postgres@127.0.0.1:{proxy.port}/{name}", proxy

    def go_away(self, machines: Sequence[Machine]) -> None:
        """Break all connections."""
        for proxy in self._proxies:
            proxy.cut()

    def come_back(self, machines: Sequence[Machine]) -> None:
        """Accept connections."""
        for proxy in self._proxies:
            proxy.restore()

    async def hold_result(
        self, text: str, go: Callable[[], None], seen: Callable[[], Awaitable[Any]]
    ) -> None:
        """Hold back the statement that carries the result."""
        for proxy in self._proxies:
            proxy.hold(text)
        go()
        held = [asyncio.create_task(proxy.wait_until_held()) for proxy in self._proxies]
        _, others = await asyncio.wait(held, return_when=asyncio.FIRST_COMPLETED)
        for task in others:
            task.cancel()

    def release(self) -> None:
        """Pass on the statement, if its sender is still there."""
        for proxy in self._proxies:
            proxy.release()

    async def execute(self, statement: str) -> None:
        """Execute an SQL statement."""
        connection = await asyncpg.connect(self._direct)
        try:
            await connection.execute(statement)
        finally:
            await connection.close()

    async def fetch(self, query: str) -> list[Any]:
        """Return the first column of what an SQL query finds."""
        connection = await asyncpg.connect(self._direct)
        try:
            return [row[0] for row in await connection.fetch(query)]
        finally:
            await connection.close()

    async def find_damage(self) -> list[str]:
        """Find nothing: PostgreSQL checks its constraints at each commit."""
        return []


def _start_once() -> str:
    with _starting:
        return start_server()


@asynccontextmanager
async def open_storage(kind: str, folder: Path) -> AsyncIterator[Storage]:
    """Make an empty database."""
    if kind == "sqlite":
        yield SqliteStorage(folder / "cell.db")
        return
    server = await asyncio.to_thread(_start_once)
    direct = await make_database()
    async with AsyncExitStack() as ways:
        yield PostgresStorage(direct, f"{server.split('host=')[1]}/.s.PGSQL.5432", ways)
