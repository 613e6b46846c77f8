"""The log of an answer, for any number of readers in any thread, each from the start."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any, Generic, TypeAlias, TypeVar

from dovetail.concurrency import find_running_loop
from dovetail.events.delta import Delta

T = TypeVar("T")
LogEntry: TypeAlias = Delta | tuple[str, Any]
"""A delta, or the name of an event with its data."""


class Log(Generic[T]):
    """A growing list of items; readers that have caught up wait for more."""

    def __init__(self) -> None:
        self.items: list[T] = []
        self.ended = False
        self._waiting: list[asyncio.Future[None]] = []
        self._waiting_for_end: list[asyncio.Future[None]] = []

    def append(self, item: T) -> None:
        """Add an item and wake the readers."""
        self.items.append(item)
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            _wake(waiting)

    def end(self) -> None:
        """End the log and wake the readers."""
        self.ended = True
        waiting = self._waiting + self._waiting_for_end
        self._waiting, self._waiting_for_end = [], []
        _wake(waiting)

    async def read(self) -> AsyncGenerator[T, None]:
        """Yield every item from the first on, until the end."""
        items = self.items
        position = 0
        while True:
            while position < len(items):
                yield items[position]
                position += 1
            if self.ended and position == len(items):
                return
            await self.wait(position)

    async def wait(self, position: int) -> None:
        """Wait until the log has more than `position` items or has ended."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        # Looked at after the future is in the list: an item that came before is seen, a later one wakes it.
        if len(self.items) == position and not self.ended:
            await future

    async def wait_for_end(self) -> None:
        """Wait until the log has ended."""
        if not self.ended:
            future = asyncio.get_running_loop().create_future()
            self._waiting_for_end.append(future)
            if not self.ended:
                await future


def _wake(waiting: "list[asyncio.Future[None]]") -> None:
    here = find_running_loop() if waiting else None
    for future in waiting:
        loop = future.get_loop()
        if loop is here:
            _resolve(future)
        elif not loop.is_closed():
            loop.call_soon_threadsafe(_resolve, future)


def _resolve(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
