"""Time that passes at once, for what happens when a limit is over: a test neither waits nor must be quick."""

import asyncio
from collections.abc import Awaitable
from pathlib import Path
from typing import TypeVar

from dovetail.testing import Gate

HOUR = 3600.0
T = TypeVar("T")


def leap(seconds: float = HOUR) -> None:
    """Set the clock of the running event loop ahead: what would end within that time ends now.

    The clock is never set back: what begins to sleep after the leap would sleep that much longer.
    """
    loop = asyncio.get_running_loop()
    clock = loop.time
    loop.time = lambda: clock() + seconds  # type: ignore[method-assign]


async def end_late(work: Awaitable[T], begun: Path, seconds: float = HOUR) -> T:
    """Wait for work; that much time has passed as soon as a thread or a process of it has made a file."""
    task = asyncio.ensure_future(work)
    while not await asyncio.to_thread(begun.exists) and not task.done():  # noqa: ASYNC110 - no event tells
        await asyncio.sleep(0.01)
    leap(seconds)
    return await task


class Leap(Gate):
    """A step of a reply that never continues: that much time has passed when it is reached."""

    def __init__(self, seconds: float = HOUR) -> None:
        super().__init__()
        self._seconds = seconds

    async def pass_through(self) -> None:
        """Wait until a time limit cancels it."""
        leap(self._seconds)
        await asyncio.Event().wait()
