"""The execution of one tool: its time limit, its cancellation, and exactly one end.

To stop a tool, its `cancelled` event is set and its task cancelled. If it does not end within `GRACE`
seconds, it is abandoned and the call ends without it.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from contextvars import Context, copy_context
from time import perf_counter
from typing import Any, TypeAlias

from dovetail.concurrency import Stopwatch, find_running_loop
from dovetail.data.clean import clean_data
from dovetail.data.known_secrets import hide_known_in
from dovetail.errors import ToolError
from dovetail.events.call import CallStatus
from dovetail.events.run_context import RunContext
from dovetail.events.run_events import AskKind, ToolProgress, ToolStall
from dovetail.events.tool_context import ToolContext
from dovetail.stall import Stall, labelled
from dovetail.tools.pipeline.prepare import Prepared
from dovetail.tools.pipeline.result_limits import ResultLimiter
from dovetail.tools.result import (
    add_notes,
    make_error_result,
    make_failure,
    make_result,
    make_unstarted,
    mask_known,
    to_event_data,
)
from dovetail.tools.threads import contain_exits
from dovetail.tools.tool import Tool, ToolResult
from dovetail.tracing import record, span

logger = logging.getLogger(__name__)

GRACE = 2.0

OnEnd: TypeAlias = Callable[["Execution", CallStatus, ToolResult, float], None]


class Execution:
    """Run one call of one tool; `on_end` is called exactly once, with its outcome."""

    def __init__(
        self, prepared: Prepared, call_id: str, run: RunContext, limiter: ResultLimiter, on_end: OnEnd
    ) -> None:
        self._tool = prepared.tool
        self._notes = prepared.notes
        self._call_id = call_id
        self._run = run
        self._limiter = limiter
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._context = copy_context()
        self._cancelled = asyncio.Event()
        self._is_finished = False
        self._has_begun = False
        self._started_at = perf_counter()
        self._stopped_as: CallStatus | None = None
        self._timeout = PausableTimeout(self._loop)
        self._grace: asyncio.TimerHandle | None = None
        self._task = self._loop.create_task(self._execute(prepared.args))
        self._task.add_done_callback(self._note_end)

    @property
    def is_at_work(self) -> bool:
        """Whether the tool is still running."""
        return not self._task.done()

    def start_timeout(self) -> None:
        """Start the time limit."""
        self._timeout.start(self._tool.time_limit, lambda: self.stop("timeout"))

    def stop(self, status: CallStatus = "interrupted") -> None:
        """End the call, with this status unless it succeeds all the same."""
        if self._stopped_as is None and not self._is_finished:
            self._stopped_as = status
            self._cancelled.set()
            self._task.cancel()
            self._timeout.stop()
            self._grace = self._loop.call_later(GRACE, self._abandon, context=self._context)

    async def _execute(self, args: dict[str, Any]) -> ToolResult:
        run = self._run
        context = ToolContext(
            call_id=self._call_id,
            cancelled=self._cancelled,
            update=self._update,
            ask=None if run.ask is None else self._ask,
            scope=run,
            resumable=self._tool.resumable,
        )
        if not self._tool.may_repeat:
            await run.flush()
        if not self._tool.is_read_only:
            await run.confirm()  # even if this process was frozen after its start was stored
        self._has_begun = True
        with labelled(self._tool.name, self._note_stall), _tool_span(self._tool, self._call_id) as span:
            with contain_exits():
                value = await self._tool.execute(args, context)
            result = mask_known(add_notes(make_result(value), self._notes))
            if not self._limiter.fits(result, run):
                result = await self._limiter.keep(result, run)
            record(span, {}, error=result.error and result.error.type)
        return result

    async def _ask(
        self,
        kind: AskKind,
        payload: Mapping[str, Any],
        timeout: float | None = None,  # noqa: ASYNC109 - the name that the contract of `ask` gives it
    ) -> Mapping[str, Any]:
        ask = self._run.ask
        if ask is None:
            return {"status": "timeout"}
        self._timeout.pause()
        try:
            with nullcontext() if kind == "browser" else self._run.paused():  # a browser's time counts
                return await ask(kind, self._call_id, clean_data(payload), timeout)
        finally:
            self._timeout.resume()

    def _update(self, output: Any) -> None:
        """Show progress, from the event loop or from a thread."""
        event = ToolProgress(self._call_id, hide_known_in(to_event_data(output)))
        if find_running_loop() is self._loop:
            self._show(event)
        else:
            self._loop.call_soon_threadsafe(self._show, event)

    def _show(self, event: ToolProgress) -> None:
        if not self._is_finished:
            self._run.emit(event)

    def _note_stall(self, stall: Stall) -> None:
        self._run.emit(ToolStall(self._call_id, round(stall.seconds, 3), stall.where))

    def _note_end(self, task: "asyncio.Task[ToolResult]") -> None:
        error = None if task.cancelled() else task.exception()
        if self._is_finished:
            logger.warning("tool %r ended after it was abandoned: %r", self._tool.name, error)
        elif task.cancelled() or (self._stopped_as is not None and (error or task.result().error)):
            self._finish(*self._explain_stop())
        elif error is not None:
            self._log_crash(error)
            is_late = isinstance(error, ToolError) and error.type == "timeout"
            self._finish("timeout" if is_late else "error", make_error_result(error))
        else:
            result = task.result()
            self._finish("error" if result.error else "ok", result)

    def _abandon(self) -> None:
        logger.warning("tool %r did not stop within %s s and was abandoned", self._tool.name, GRACE)
        self._finish(*self._explain_stop())

    def _finish(self, status: CallStatus, result: ToolResult) -> None:
        self._is_finished = True
        self._timeout.stop()
        if self._grace is not None:
            self._grace.cancel()
        self._on_end(self, status, result, perf_counter() - self._started_at)

    def _log_crash(self, error: BaseException) -> None:
        if not isinstance(error, ToolError):
            logger.error("tool %r crashed", self._tool.name, exc_info=error)

    def _explain_stop(self) -> tuple[CallStatus, ToolResult]:
        name = self._tool.name
        if not self._has_begun:
            return self._stopped_as or "interrupted", make_unstarted(name)
        if self._stopped_as == "timeout":
            text = f"{name!r} exceeded its time limit of {self._tool.time_limit:g} s and was stopped."
            return "timeout", make_failure(text, "timeout")
        if self._stopped_as is None:
            return "error", make_failure(f"{name!r} cancelled itself.")
        is_known = self._tool.may_repeat or self._tool.is_read_only
        effect = "" if is_known else " Whether it had an effect is not known."
        reason = self._run.cancel.reason
        text = f"{name!r} {reason}" if reason else f"{name!r} was interrupted."
        return "interrupted", make_failure(f"{text}{effect}", "interrupted")


class PausableTimeout:
    """Call a function after a number of seconds, not counting the pauses."""

    __slots__ = ("_expire", "_limit", "_loop", "_timer", "_watch")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._timer: asyncio.TimerHandle | None = None
        self._watch = Stopwatch(loop.time)
        self._limit: float | None = None
        self._expire: Callable[[], None] | None = None

    def start(self, seconds: float | None, expire: Callable[[], None]) -> None:
        """Call `expire` once the seconds have passed; None means never."""
        self._expire = expire
        if seconds is not None:
            self._limit = self._watch.elapsed() + seconds
            self._set_timer()

    def stop(self) -> None:
        """Never expire, and let go of the function: with it the call would keep its tool in memory."""
        self._limit, self._expire = None, None
        self._clear_timer()

    def pause(self) -> None:
        """Stand still until as many `resume` calls have come."""
        self._watch.pause()
        self._clear_timer()

    def resume(self) -> None:
        """Continue, unless another pause is in progress."""
        self._watch.resume()
        self._set_timer()

    def _set_timer(self) -> None:
        if self._limit is not None and self._expire is not None and not self._watch.is_paused:
            left = max(self._limit - self._watch.elapsed(), 0.0)
            # The loop keeps cancelled timers with their contexts, and so would the tools of the run stay.
            self._timer = self._loop.call_later(left, self._expire, context=Context())

    def _clear_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _tool_span(tool: Tool, call_id: str) -> AbstractContextManager[Any]:
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool.name,
        "gen_ai.tool.description": tool.description,
        "gen_ai.tool.call.id": call_id,
        "gen_ai.tool.type": "function",
    }
    return span(f"execute_tool {tool.name}", attributes)
