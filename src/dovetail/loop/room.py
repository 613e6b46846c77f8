"""The room of a conversation in its model's window: old messages are shortened before it is full."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, Protocol

from dovetail.events.call import ToolSpec
from dovetail.loop.compaction import Fitted
from dovetail.loop.conversation import Conversation
from dovetail.loop.limits import Deadline, UsageMeter
from dovetail.loop.request_log import RequestLog
from dovetail.requesters.requester import Requester, find_window

SMALL = 2_000
"""Tokens that fit into the window of any model."""


class Reading(Protocol):
    """The model that reads a conversation, and its window if that is set; a `TurnLoop`."""

    @property
    def requester(self) -> Requester: ...

    @property
    def window(self) -> int | None: ...


class Room:
    """Make room for one conversation, and record and count what that takes."""

    def __init__(
        self, model: Reading, conversation: Conversation, meter: UsageMeter, log: RequestLog | None
    ) -> None:
        self._model = model
        self._conversation = conversation
        self._meter = meter
        self._log = log

    async def make(self, specs: Sequence[ToolSpec], summarizer: Requester | None, deadline: Deadline) -> None:
        """Shorten old messages if the model's window is nearly full."""
        window = await self._find_window()
        limit = None if window is None else self._conversation.find_limit(window, specs)
        if limit is not None:
            await self._fit(self._meter.turns + 1, self._conversation.make_room(limit, summarizer), deadline)

    async def shrink(self, summarizer: Requester | None, deadline: Deadline) -> bool:
        """Shorten a conversation that the model has refused as too long; return whether that was possible."""
        window = self._model.window or getattr(self._model.requester, "context_tokens", None)
        shrinking = self._conversation.shrink(window, summarizer)
        return await self._fit(self._meter.turns, shrinking, deadline) is not None

    async def _find_window(self) -> int | None:
        """Return the model's window; nothing is looked up for a conversation that fits into any."""
        if self._model.window is not None or self._conversation.tokens < SMALL:
            return self._model.window
        return await find_window(self._model.requester)

    async def _fit(
        self, turn: int, fitting: Coroutine[Any, Any, Fitted | None], deadline: Deadline
    ) -> Fitted | None:
        """Shorten within the run's time; record and count the request for a summary, if there was one."""
        fitted = await deadline.guard(asyncio.create_task(fitting))
        if fitted is not None and fitted.asked is not None:
            if self._log is not None:
                self._log.record_summary(turn, fitted.asked)
            self._meter.add_summary(turn, fitted.usage)
        return fitted
