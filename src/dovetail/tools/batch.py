"""The calls of one turn on their way through the pipeline."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from dovetail.bus.policy import Decision
from dovetail.errors import ToolError
from dovetail.messages.call import CallStatus, ToolCall
from dovetail.messages.event import ToolEnd, ToolStart
from dovetail.tools.approve import Approver
from dovetail.tools.execution import GRACE, Execution
from dovetail.tools.outcome import CallOutcome
from dovetail.tools.prepare import Prepared, prepare
from dovetail.tools.registry import ToolSnapshot
from dovetail.tools.result import make_error_result, make_failure, to_dict
from dovetail.tools.scope import CallScope
from dovetail.tools.tool import ToolResult

logger = logging.getLogger(__name__)

_STATUSES: dict[str, CallStatus] = {
    "policy_violation": "denied",
    "declined": "denied",
    "approval_timeout": "timeout",
}


@dataclass(slots=True, eq=False)
class _Entry:
    """One call; `prepared` while it may still run, `outcome` from its end on."""

    call: ToolCall
    prepared: Prepared | None = None
    outcome: CallOutcome | None = None


class Batch:
    """Takes the calls of one turn from their first step to their one outcome each."""

    def __init__(self, approver: Approver, snapshot: ToolSnapshot, scope: CallScope) -> None:
        self._approver = approver
        self._snapshot = snapshot
        self._scope = scope
        self._entries: list[_Entry] = []
        self._asking: list[asyncio.Task[None]] = []
        self._running: dict[Execution, _Entry] = {}
        self._idle: asyncio.Future[None] | None = None

    async def run(self, calls: Sequence[ToolCall]) -> list[CallOutcome]:
        """One outcome for each call, in their order."""
        self._entries = [_Entry(call) for call in calls]
        watcher = asyncio.create_task(self._scope.cancelled.wait())
        watcher.add_done_callback(lambda _: self._stop())
        try:
            await self._settle()
            await self._execute()
        except asyncio.CancelledError:
            self._stop()
            if self._asking:
                await asyncio.wait(self._asking, timeout=GRACE)
            await self._wait_until_idle()
            raise
        finally:
            watcher.cancel()
            self._interrupt_rest()
        return [entry.outcome for entry in self._entries if entry.outcome is not None]

    async def _settle(self) -> None:
        """Prepare all calls and get all approvals."""
        questions = [question for entry in self._entries if (question := self._prepare(entry)) is not None]
        if questions and not self._scope.cancelled.is_set():
            self._asking = [asyncio.create_task(self._ask(*question)) for question in questions]
            await asyncio.wait(self._asking)

    def _prepare(self, entry: _Entry) -> tuple[_Entry, Prepared, Decision] | None:
        """Prepare one call; gives what is needed to ask for its approval, if it needs one."""
        try:
            prepared = prepare(entry.call, self._snapshot, self._scope)
            decision = self._approver.decide(prepared, self._scope)
        except ToolError as error:
            self._refuse(entry, error)
            return None
        if decision.action == "ask":
            return entry, prepared, decision
        entry.prepared = prepared
        return None

    async def _ask(self, entry: _Entry, prepared: Prepared, decision: Decision) -> None:
        try:
            entry.prepared = await self._approver.ask(prepared, decision, entry.call.call_id, self._scope)
        except ToolError as error:
            self._refuse(entry, error)
        except Exception as error:
            logger.exception("the approval of %r could not be asked for", entry.call.name)
            self._refuse(entry, ToolError(f"nobody could be asked: {error}", type="policy_violation"))

    async def _execute(self) -> None:
        ready = [(entry, entry.prepared) for entry in self._entries if entry.prepared and not entry.outcome]
        in_parallel = all(prepared.tool.kind.is_read_only for _, prepared in ready)
        for entry, prepared in ready:
            if self._scope.cancelled.is_set():
                break
            self._start(entry, prepared)
            if not in_parallel:
                await self._wait_until_idle()
        await self._wait_until_idle()

    def _start(self, entry: _Entry, prepared: Prepared) -> None:
        tool, call_id = prepared.tool, entry.call.call_id
        self._scope.emit(ToolStart(call_id, tool.kind.value, tool.describe(prepared.args)))
        self._running[Execution(prepared, call_id, self._scope, self._note_end)] = entry

    def _note_end(
        self, execution: Execution, status: CallStatus, result: ToolResult, duration: float
    ) -> None:
        self._end(self._running.pop(execution), status, result, duration)
        if not self._running and self._idle is not None and not self._idle.done():
            self._idle.set_result(None)

    async def _wait_until_idle(self) -> None:
        if self._running:
            self._idle = asyncio.get_running_loop().create_future()
            await self._idle

    def _stop(self) -> None:
        for task in self._asking:
            task.cancel()
        for execution in list(self._running):
            execution.stop()

    def _refuse(self, entry: _Entry, error: ToolError) -> None:
        self._end(entry, _STATUSES.get(error.type, "error"), make_error_result(error))

    def _interrupt_rest(self) -> None:
        for entry in self._entries:
            if entry.outcome is None:
                failure = make_failure(f"{entry.call.name!r} was interrupted before it ran", "interrupted")
                self._end(entry, "interrupted", failure)

    def _end(self, entry: _Entry, status: CallStatus, result: ToolResult, duration: float = 0.0) -> None:
        entry.outcome = CallOutcome(call=entry.call, status=status, result=result, duration=duration)
        error = result.error and {"message": result.error.message, "type": result.error.type}
        self._scope.emit(ToolEnd(entry.call.call_id, status, to_dict(result), error, duration))
