"""The limits of a loop at work: its time and its cancel (`Deadline`), its turns and tokens (`UsageMeter`)."""

import asyncio
from contextvars import Context
from dataclasses import dataclass, field
from typing import Literal, Self, TypeAlias, TypeVar

from dovetail.events.cancel import CancelSignal
from dovetail.events.delta import RequestTiming, Usage
from dovetail.events.model_events import ModelResponseEvent
from dovetail.events.run_events import Emit, TurnEnd
from dovetail.loop.budget import Budget

T = TypeVar("T")
StopReason: TypeAlias = Literal["cancelled", "timeout"]


class Deadline:
    """Set `event` once: when the run is cancelled `now`, or when the time of its budget is over.

    `kept` seconds of that time are left when it is. `signal` stops the calls of the run, and says why.
    """

    def __init__(self, budget: Budget, cancel: CancelSignal, kept: float = 0.0) -> None:
        self.signal = CancelSignal()
        self.event = self.signal.now
        self.reason: StopReason | None = None
        self._budget = budget
        self._cancel = cancel
        self._kept = kept
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._watcher: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._watcher = asyncio.create_task(self._watch())
        if self._cancel.now.is_set():
            self._stop("cancelled")  # before anything begins
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
        """Return the task's result, or None if the stop came first; the task is then cancelled."""
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
            elif not task.cancelled():
                task.exception()  # is read here, in case this wait was cancelled as the task failed

    async def _watch(self) -> None:
        await self._cancel.now.wait()
        self._stop("cancelled")

    def _stop(self, reason: StopReason) -> None:
        if self.reason is None:
            self.reason = reason
            if reason == "timeout":
                self.signal.reason = f"reached the time limit of its caller: {self._budget.explain(reason)}"
            self.event.set()

    def _pause(self, paused: bool) -> None:
        """Pause or resume the timer; a run below this one may be in another thread."""
        self._loop.call_soon_threadsafe(self._clear_timer if paused else self._set_timer)

    def _set_timer(self) -> None:
        self._clear_timer()
        left = self._budget.seconds_left()
        if left is not None and self._watcher is not None:  # a late call from another thread starts nothing
            self._timer = self._loop.call_later(
                max(left - self._kept, 0), self._stop, "timeout", context=Context()
            )

    def _clear_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumePoint:
    """Where an interrupted run resumes.

    `turns` have ended; `usage` belongs to answers whose turn has not.
    """

    turns: int = 0
    usage: Usage = field(default_factory=Usage)


class UsageMeter:
    """Count turns and tokens of one loop, and report them; resumes the counts of an interrupted run."""

    def __init__(self, emit: Emit, budget: Budget, earlier: ResumePoint | None = None) -> None:
        earlier = earlier or ResumePoint()
        self.turns = earlier.turns
        self._unsettled = earlier.usage
        self.emit = emit
        self.budget = budget

    def begin_turn(self) -> None:
        """Count one more request of the conversation."""
        self.turns += 1
        self.budget.use_turn()

    def resume_turn(self) -> None:
        """Resume a turn that began before the interruption; the budget has counted it already."""
        self.turns += 1

    def add(self, usage: Usage) -> None:
        """Count the usage of an answer."""
        self.budget.use_tokens(usage)
        self._unsettled = self._unsettled + usage

    def report_answer(self, usage: Usage) -> None:
        """Report the usage of the turn's answer, before its calls run."""
        self.emit(ModelResponseEvent(self.turns, usage))

    def add_summary(self, turn: int, usage: Usage) -> None:
        """Count and report the usage of a summary that this turn needed."""
        self.add(usage)
        self.emit(ModelResponseEvent(turn, usage, "summary"))

    def end_turn(self, reason: str, model: str = "", timing: RequestTiming | None = None) -> None:
        """Report that the turn is over; `model` is the one that answered, if several were asked."""
        used, self._unsettled = self._unsettled, Usage()
        self.emit(TurnEnd(self.turns, used, reason, model, timing))
