"""Transactions on an SQLite file, each at one go in a thread of their own.

The asynchronous driver changes threads for every statement and every row it fetches, which costs more than
the statements themselves.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import sqlalchemy as sa

T = TypeVar("T")


class TransactionThread:
    """Does one transaction after the other; a connection that failed is not used again."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._connections: dict[bool, sa.Connection] = {}
        self._pool = ThreadPoolExecutor(1, "dovetail-store")

    async def run(self, work: Callable[[sa.Connection], T], *, writes: bool) -> T:
        """What the work gives, done inside one transaction."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._do, work, writes)

    async def close(self) -> None:
        """End the thread after what it is doing."""
        await asyncio.get_running_loop().run_in_executor(self._pool, self._close)
        self._pool.shutdown()

    def _do(self, work: Callable[[sa.Connection], T], writes: bool) -> T:
        try:
            connection = self._connect(writes)
            with connection.begin():
                return work(connection)
        except BaseException:
            self._disconnect(writes)
            raise

    def _connect(self, writes: bool) -> sa.Connection:
        if writes not in self._connections:
            self._connections[writes] = self._engine.connect().execution_options(writes=writes)
        return self._connections[writes]

    def _disconnect(self, writes: bool) -> None:
        connection = self._connections.pop(writes, None)
        if connection is not None:
            connection.close()

    def _close(self) -> None:
        for writes in (True, False):
            self._disconnect(writes)
        self._engine.dispose()
