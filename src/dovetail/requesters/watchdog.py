"""Ends a stream that stalls or takes too long, and lets it rest between reads.

One timer per stream and one clock reading per piece: a time-out scope around every read would cost more than
the read. It closes the response instead of cancelling the task, since a generator must not leave a scope
open while its reader does something else.
"""

import asyncio
from typing import Any, Literal

from dovetail.requesters.limits import TimeLimits


class Watchdog:
    """Closes `response` when one read takes longer than the idle limit, or the whole the total limit."""

    __slots__ = ("_deadline", "_due", "_idle", "_loop", "_response", "_rest", "_timer", "expired")

    def __init__(self, response: Any, limits: TimeLimits, deadline: float) -> None:
        self.expired: Literal["", "idle", "total"] = ""
        self._loop = asyncio.get_running_loop()
        self._response = response
        self._idle = limits.idle
        self._deadline = deadline
        self._due = deadline
        self._rest: asyncio.TimerHandle | None = None
        self._timer = self._loop.call_at(min(self._loop.time() + self._idle, deadline), self._look)

    async def read(self) -> bytes:
        """What has arrived, at least one byte; nothing when the stream is over."""
        self._due = self._loop.time() + self._idle
        data: bytes = await self._response.content.readany()
        self._due = self._deadline
        return data

    def rest(self, seconds: float) -> None:
        """Take nothing from the socket for a while: several pieces at once cost hardly more than one."""
        connection = self._response.connection
        if connection is not None and connection.transport is not None:
            connection.transport.pause_reading()
            self._rest = self._loop.call_later(seconds, connection.transport.resume_reading)

    def stop(self) -> None:
        """Let the response alone."""
        self._timer.cancel()
        if self._rest is not None:
            self._rest.cancel()

    def _look(self) -> None:
        now = self._loop.time()
        due = min(self._due, self._deadline)
        if now < due:
            self._timer = self._loop.call_at(min(due, now + self._idle), self._look)
            return
        self.expired = "total" if now >= self._deadline else "idle"
        self._response.close()
