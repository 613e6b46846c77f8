"""The wish to stop a run."""

import asyncio
import threading
from contextlib import suppress
from typing import Literal, TypeAlias

from dovetail.concurrency import find_running_loop

CancelMode: TypeAlias = Literal["now", "after_tool", "after_turn"]
_URGENCY = {None: 0, "after_turn": 1, "after_tool": 2, "now": 3}


class _StopEvent(asyncio.Event):
    """An event that any thread may set; one of asyncio leaves the loop that waits for it asleep."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._home: asyncio.AbstractEventLoop | None = None

    async def wait(self) -> Literal[True]:
        """Wait until the event is set."""
        with self._lock:
            self._home = asyncio.get_running_loop()
        return await super().wait()

    def set(self) -> None:
        """Set the event, and wake what waits for it in the loop of its thread."""
        with self._lock:
            if self._home is None or self._home is find_running_loop():
                super().set()
                return
        with suppress(RuntimeError):  # that loop is closed: nothing waits any more
            self._home.call_soon_threadsafe(super().set)


class CancelSignal:
    """One run's wish to stop; a more urgent wish replaces an earlier one, never the other way round.

    Any thread may ask. `now` is the event that stops everything; one that also other things set may be
    passed in. `reason` says in words why it was set, if no person stopped the run.

    >>> cancel = CancelSignal()
    >>> cancel.request()  # a button does this, while `agent.run(…, cancel=cancel)` is in progress
    >>> cancel.mode
    'now'
    """

    __slots__ = ("mode", "now", "reason")

    def __init__(self, now: asyncio.Event | None = None) -> None:
        self.mode: CancelMode | None = None
        self.now = now or _StopEvent()
        self.reason = ""

    def request(self, mode: CancelMode = "now") -> None:
        """Ask the run to stop."""
        if _URGENCY[mode] > _URGENCY[self.mode]:
            self.mode = mode
        if self.mode == "now":
            self.now.set()
