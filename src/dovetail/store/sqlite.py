"""Transactions on SQLite, each run as a whole in a thread; and group commit.

An asynchronous driver switches threads for every statement and every row it fetches, which costs more than
the statements themselves.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError

from dovetail.errors import StoreError

T = TypeVar("T")


class TransactionThreads:
    """One thread that writes and one that reads, each with its own connection; in memory both are the same.

    A connection is kept when the caller's work fails, and replaced when the database does.
    """

    def __init__(self, engine: sa.Engine, *, is_shared: bool = False) -> None:
        self._engine = engine
        self._connections: dict[bool, sa.Connection] = {}
        writer = ThreadPoolExecutor(1, "dovetail-store")
        self._pools = {True: writer, False: writer if is_shared else ThreadPoolExecutor(1, "dovetail-read")}

    async def run(self, work: Callable[[sa.Connection], T], *, writes: bool) -> T:
        """Return the result of the work, done inside one transaction."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pools[writes], self._do, work, writes)

    async def close(self) -> None:
        """End the threads after what they are doing."""
        for writes, pool in self._pools.items():
            await asyncio.get_running_loop().run_in_executor(pool, self._disconnect, writes)
        for pool in self._pools.values():
            pool.shutdown()
        self._engine.dispose()

    def _do(self, work: Callable[[sa.Connection], T], writes: bool) -> T:
        connection = self._connect(writes)
        try:
            with connection.begin():
                return work(connection)
        except (IntegrityError, DataError):
            raise
        except DBAPIError:
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


Work: TypeAlias = Callable[[sa.Connection], T]


@dataclass(frozen=True, slots=True)
class _Order:
    work: Work[Any]
    done: "asyncio.Future[Any]"


class GroupCommit:
    """Group commit: at most `width` concurrent transactions; work that arrives later shares the next.

    If a shared transaction fails, each work is repeated in its own, and only the caller of the failing one
    gets the error. The order is kept.
    """

    def __init__(self, transact: Callable[[Work[Any]], Awaitable[Any]], width: int = 1) -> None:
        self._transact = transact
        self._width = width
        self._waiting: list[_Order] = []
        self._tasks: set[asyncio.Task[None] | None] = set()

    async def do(self, work: Work[T]) -> T:
        """Return the result of the work; a caller that is cancelled before it has begun withdraws it."""
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Order(work, done))
        if len(self._tasks) < self._width:
            self._tasks.add(asyncio.create_task(self._go()))
        return await done

    async def _go(self) -> None:
        try:
            while self._waiting:
                orders = [order for order in self._waiting if not order.done.done()]
                self._waiting = []
                if len(orders) < 2 or not await self._do_all(orders):
                    await self._do_each(orders)
        finally:
            self._tasks.discard(asyncio.current_task())

    async def _do_all(self, orders: Sequence[_Order]) -> bool:
        try:
            results = await self._transact(lambda connection: [order.work(connection) for order in orders])
        except Exception:
            return False
        for order, result in zip(orders, results, strict=True):
            _answer(order, result)
        return True

    async def _do_each(self, orders: Sequence[_Order]) -> None:
        away: StoreError | None = None
        for order in orders:
            if away is not None:  # the database itself: the others need not wait for it, too
                _fail(order, away)
                continue
            try:
                _answer(order, await self._transact(order.work))
            except Exception as error:
                away = error if isinstance(error, StoreError) else None
                _fail(order, error)


def _answer(order: _Order, result: Any) -> None:
    if not order.done.done():
        order.done.set_result(result)


def _fail(order: _Order, error: Exception) -> None:
    if not order.done.done():
        order.done.set_exception(error)
