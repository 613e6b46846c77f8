"""Asking a run to stop, and how soon."""

import asyncio
from typing import Literal, TypeAlias

CancelMode: TypeAlias = Literal["now", "after_tool", "after_turn"]
_URGENCY = {None: 0, "after_turn": 1, "after_tool": 2, "now": 3}


class CancelSignal:
    """One run's wish to stop; a more urgent wish replaces an earlier one, never the other way round."""

    def __init__(self) -> None:
        self.mode: CancelMode | None = None
        self.now = asyncio.Event()

    def request(self, mode: CancelMode = "now") -> None:
        """Ask the run to stop."""
        if _URGENCY[mode] > _URGENCY[self.mode]:
            self.mode = mode
        if self.mode == "now":
            self.now.set()
