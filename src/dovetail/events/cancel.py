"""The wish to stop a run."""

import asyncio
from typing import Literal, TypeAlias

CancelMode: TypeAlias = Literal["now", "after_tool", "after_turn"]
_URGENCY = {None: 0, "after_turn": 1, "after_tool": 2, "now": 3}


class CancelSignal:
    """One run's wish to stop; a more urgent wish replaces an earlier one, never the other way round.

    `now` is the event that stops everything; one that also other things set may be passed in.
    """

    __slots__ = ("mode", "now")

    def __init__(self, now: asyncio.Event | None = None) -> None:
        self.mode: CancelMode | None = None
        self.now = now or asyncio.Event()

    def request(self, mode: CancelMode = "now") -> None:
        """Ask the run to stop."""
        if _URGENCY[mode] > _URGENCY[self.mode]:
            self.mode = mode
        if self.mode == "now":
            self.now.set()
