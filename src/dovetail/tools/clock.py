"""A time limit that can stand still."""

import asyncio
from collections.abc import Callable


class Clock:
    """Counts down from a limit, not counting the pauses."""

    __slots__ = ("_expire", "_left", "_loop", "_pauses", "_since", "_timer")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._timer: asyncio.TimerHandle | None = None
        self._left: float | None = None
        self._pauses = 0

    def start(self, seconds: float | None, expire: Callable[[], None]) -> None:
        """Call `expire` once the seconds have passed; None means never."""
        self._left = seconds
        self._expire = expire
        if self._pauses == 0:
            self._go()

    def stop(self) -> None:
        """Never expire."""
        self._left = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def pause(self) -> None:
        """Stand still until as many `resume` calls have come."""
        self._pauses += 1
        if self._timer is not None:
            left = (self._left or 0.0) - (self._loop.time() - self._since)
            self.stop()
            self._left = max(left, 0.0)

    def resume(self) -> None:
        """Go on when no other pause is left."""
        self._pauses -= 1
        if self._pauses == 0:
            self._go()

    def _go(self) -> None:
        if self._left is not None:
            self._since = self._loop.time()
            self._timer = self._loop.call_later(self._left, self._expire)
