"""Ends a stream that stalls or takes too long.

One timer per stream and one clock reading per piece: a time-out scope around every read would cost more than
the read. It closes the response instead of cancelling the task, since a generator must not leave a scope
open while its reader does something else.
"""

import asyncio
from typing import Any, Literal

from dovetail.requesters.limits import TimeLimits


class Watchdog:
    """Closes `response` when one read takes longer than the idle limit, or the whole the total limit."""

    __slots__ = ("_deadline", "_due", "_idle", "_loop", "_response", "_timer", "expired")

    def __init__(self, response: Any, limits: TimeLimits, deadline: float) -> None:
        self.expired: Literal["", "idle", "total"] = ""
        self._loop = asyncio.get_running_loop()
        self._response = response
        self._idle = limits.idle
        self._deadline = deadline
        self._due = deadline
        self._timer = self._loop.call_at(min(self._loop.time() + self._idle, deadline), self._look)

    async def read(self) -> bytes:
        """What has arrived, at least one byte; nothing when the stream is over."""
        self._due = self._loop.time() + self._idle
        data: bytes = await self._response.content.readany()
        self._due = self._deadline
        return data

    def stop(self) -> None:
        """Let the response alone."""
        self._timer.cancel()

    def _look(self) -> None:
        now = self._loop.time()
        due = min(self._due, self._deadline)
        if now < due:
            self._timer = self._loop.call_at(min(due, now + self._idle), self._look)
            return
        self.expired = "total" if now >= self._deadline else "idle"
        self._response.close()
