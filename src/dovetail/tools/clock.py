"""A time limit that can stand still."""

import asyncio
from collections.abc import Callable


class Clock:
    """Calls `expire` once `seconds` have passed, not counting the pauses; None means never."""

    __slots__ = ("_expire", "_left", "_loop", "_pauses", "_since", "_timer")

    def __init__(
        self, seconds: float | None, loop: asyncio.AbstractEventLoop, expire: Callable[[], None]
    ) -> None:
        self._loop = loop
        self._timer: asyncio.TimerHandle | None = None
        self.restart(seconds, expire)

    def restart(self, seconds: float | None, expire: Callable[[], None]) -> None:
        """Begin again with another limit; earlier pauses no longer count."""
        self.stop()
        self._left = seconds
        self._expire = expire
        self._pauses = 0
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
