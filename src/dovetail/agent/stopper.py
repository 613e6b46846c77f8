"""Why and when a loop must stop: one event for both a cancel and the end of its time."""

import asyncio
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any, Literal, Self, TypeAlias, TypeVar

from dovetail.messages.budget import Budget
from dovetail.messages.cancel import CancelSignal
from dovetail.messages.event import AskKind
from dovetail.tools.scope import Ask

T = TypeVar("T")
StopReason: TypeAlias = Literal["cancelled", "timeout"]


class Stopper:
    """Sets `event` once, when the run is cancelled `now` or its budget's time is over."""

    def __init__(self, budget: Budget, cancel: CancelSignal) -> None:
        self.event = asyncio.Event()
        self.reason: StopReason | None = None
        self._budget = budget
        self._cancel = cancel
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._watcher: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._watcher = asyncio.create_task(self._watch())
        self._budget.on_pause = self._pause
        self._set_timer()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        self._budget.on_pause = None
        self._clear_timer()
        if self._watcher:
            self._watcher.cancel()
            self._watcher = None

    async def guard(self, task: "asyncio.Task[T]") -> T | None:
        """The task's result, or None when the stop came first; the task is then cancelled and awaited."""
        stop = asyncio.create_task(self.event.wait())
        try:
            await asyncio.wait({task, stop}, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            return None
        finally:
            stop.cancel()
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def _watch(self) -> None:
        await self._cancel.now.wait()
        self._stop("cancelled")

    def _stop(self, reason: StopReason) -> None:
        if self.reason is None:
            self.reason = reason
            self.event.set()

    def _pause(self, paused: bool) -> None:
        """Stop or start the clock; a run below this one may be in another thread."""
        self._loop.call_soon_threadsafe(self._clear_timer if paused else self._set_timer)

    def _set_timer(self) -> None:
        self._clear_timer()
        left = self._budget.seconds_left()
        if left is not None and self._watcher is not None:  # a late word from another thread starts nothing
            self._timer = self._loop.call_later(max(left, 0), self._stop, "timeout")

    def _clear_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None


def pause_while_asking(ask: Ask | None, budget: Budget) -> Ask | None:
    """A way to ask that stops the budget's clock while a person thinks; a browser's answer takes its time."""
    if ask is None:
        return None

    async def pausing_ask(
        kind: AskKind, call_id: str, payload: Mapping[str, Any], time_limit: float | None = None
    ) -> Mapping[str, Any]:
        with nullcontext() if kind == "browser" else budget.paused():
            return await ask(kind, call_id, payload, time_limit)

    return pausing_ask
