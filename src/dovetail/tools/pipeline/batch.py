"""The calls of one turn on their way through the pipeline."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from dovetail.data.known_secrets import hide_known
from dovetail.errors import ToolError
from dovetail.events.call import CallStatus, ToolCall
from dovetail.events.run_context import RunContext, current_context, entered
from dovetail.events.run_events import ToolEnd, ToolHold, ToolStart
from dovetail.policy.policy import Decision
from dovetail.tools.pipeline.approve import Approval, Approver
from dovetail.tools.pipeline.audit import Audit, AuditRecord, find_log_audit, mask_arguments
from dovetail.tools.pipeline.execute import GRACE, Execution
from dovetail.tools.pipeline.prepare import Prepared, Preparer
from dovetail.tools.pipeline.result_limits import ResultLimiter
from dovetail.tools.result import make_error_result, make_unstarted, mask_failure, to_dict
from dovetail.tools.snapshot import ToolSnapshot
from dovetail.tools.tool import CallOutcome, Tool, ToolResult

logger = logging.getLogger(__name__)

_STATUSES: dict[str, CallStatus] = {
    "policy_violation": "denied",
    "declined": "denied",
    "approval_timeout": "timeout",
}


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of the pipeline, which all batches share."""

    preparer: Preparer
    approver: Approver
    limiter: ResultLimiter
    audit: Audit | None
    hide: Callable[[str], str] | None = None


@dataclass(slots=True, eq=False)
class _Call:
    """One call in progress: its state so far and, once it has ended, its outcome."""

    request: ToolCall
    context: RunContext
    prepared: Prepared | None = None
    decision: Decision | None = None
    approval: Approval = field(default_factory=Approval)
    is_approved: bool = False
    outcome: CallOutcome | None = None


class CallBatch:
    """Take the calls of one turn from their first step to exactly one outcome each."""

    def __init__(self, steps: Steps, snapshot: ToolSnapshot, run: RunContext) -> None:
        self._steps = steps
        self._snapshot = snapshot
        self._run = run
        self._calls: list[_Call] = []
        self._asking: list[asyncio.Task[None]] = []
        self._running: dict[Execution, _Call] = {}
        self._idle: asyncio.Future[None] | None = None
        self._watcher: asyncio.Task[Any] | None = None

    async def run(self, calls: Sequence[ToolCall]) -> list[CallOutcome]:
        """Return one outcome for each call, in their order."""
        current = self._run.inside(current_context())
        self._calls = [_Call(call, current.for_call(call.call_id)) for call in calls]
        try:
            with entered(current):
                await self._approve()
                await self._execute()
        except asyncio.CancelledError:
            self._stop()
            if self._asking:
                await asyncio.wait(self._asking, timeout=GRACE)
            await self._wait_until_idle()
            raise
        finally:
            if self._watcher is not None:
                self._watcher.cancel()
            self._interrupt_rest()
        return [call.outcome for call in self._calls if call.outcome is not None]

    async def _approve(self) -> None:
        """Prepare all calls and get all approvals."""
        await self._steps.approver.restore(self._run)
        for call in self._calls:
            with entered(call.context):
                self._prepare(call)
        questions = [call for call in self._calls if not call.is_approved and call.outcome is None]
        if questions and not self._run.cancelled.is_set():
            self._run.emit(ToolHold(tuple(call.request.call_id for call in questions)))
            for call in questions:
                with entered(call.context):
                    self._asking.append(asyncio.create_task(self._ask(call)))
            self._watch()
            await asyncio.wait(self._asking)

    def _prepare(self, call: _Call) -> None:
        try:
            call.prepared = self._steps.preparer.prepare(call.request, self._snapshot, self._run)
            call.decision = self._steps.approver.decide(call.prepared, self._run)
            call.is_approved = self._steps.approver.allows(call.decision, call.prepared, self._run)
        except ToolError as error:
            self._refuse(call, error)
        except Exception as error:
            logger.exception("failed to prepare a call of %r", call.request.name)
            self._end(call, "error", make_error_result(error))

    async def _ask(self, call: _Call) -> None:
        if call.prepared is None or call.decision is None:
            return
        approver, call_id, reason = self._steps.approver, call.request.call_id, call.decision.reason
        try:
            call.prepared = await approver.ask(call.prepared, reason, call_id, self._run, call.approval)
            call.is_approved = True
        except ToolError as error:
            self._refuse(call, error)
        except Exception as error:
            logger.exception("failed to ask for the approval of %r", call.request.name)
            message = f"The approval could not be requested: {error}"
            self._refuse(call, ToolError(message, type="policy_violation"))

    async def _execute(self) -> None:
        ready = [
            (call, call.prepared)
            for call in self._calls
            if call.is_approved and call.prepared is not None and call.outcome is None
        ]
        in_parallel = _may_run_in_parallel([prepared.tool for _, prepared in ready])
        for call, prepared in ready:
            if self._run.cancelled.is_set():
                break
            with entered(call.context):
                self._start_allowed(call, prepared)
            if not in_parallel:
                await self._wait_until_idle()
        await self._wait_until_idle()

    def _start_allowed(self, call: _Call, prepared: Prepared) -> None:
        """Start a call, unless the rules deny it by now: others of its turn may have waited long."""
        try:
            self._steps.approver.check(prepared, self._run)
        except ToolError as error:
            self._refuse(call, error)
        else:
            self._start(call, prepared)

    def _start(self, call: _Call, prepared: Prepared) -> None:
        tool, call_id = prepared.tool, call.request.call_id
        self._run.emit(ToolStart(call_id, tool.kind.value, tool.describe(prepared.args), tool.may_repeat))
        execution = Execution(prepared, call_id, self._run, self._steps.limiter, self._note_end)
        self._running[execution] = call
        # After the tool's first step; a tool that never waits ends in it and needs no watching.
        asyncio.get_running_loop().call_soon(self._watch_execution, execution)

    def _watch_execution(self, execution: Execution) -> None:
        if execution.is_at_work:
            execution.start_timeout()
            self._watch()

    def _watch(self) -> None:
        """Stop everything when the run is cancelled."""
        if self._watcher is None:
            self._watcher = asyncio.create_task(self._run.cancelled.wait())
            self._watcher.add_done_callback(lambda _: self._stop())

    def _note_end(
        self, execution: Execution, status: CallStatus, result: ToolResult, duration: float
    ) -> None:
        call = self._running.pop(execution)
        if not (status == "interrupted" and self._run.is_abandoned):  # otherwise it ends, or not, elsewhere
            self._end(call, status, result, duration)
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

    def _refuse(self, call: _Call, error: ToolError) -> None:
        self._end(call, _STATUSES.get(error.type, "error"), make_error_result(error))

    def _interrupt_rest(self) -> None:
        if self._run.is_abandoned:
            return
        for call in self._calls:
            if call.outcome is None:
                self._end(call, "interrupted", make_unstarted(call.request.name))

    def _end(self, call: _Call, status: CallStatus, result: ToolResult, duration: float = 0.0) -> None:
        if call.outcome is not None:  # a second cancel did not wait for this one
            return
        result = mask_failure(result, self._steps.hide or hide_known)
        call.outcome = CallOutcome(call=call.request, status=status, result=result, duration=duration)
        error = result.error and {"message": result.error.message, "type": result.error.type}
        self._run.emit(ToolEnd(call.request.call_id, status, to_dict(result), error, duration))
        audit, bus = self._steps.audit or find_log_audit(), self._run.bus
        is_heard = bus is not None and bus.has_subscribers("audit")
        if audit is None and not is_heard:
            return
        record = self._make_record(call, call.outcome)
        if audit is not None:
            audit(record)
        if bus is not None and is_heard:
            bus.publish_audit(asdict(record))

    def _make_record(self, call: _Call, outcome: CallOutcome) -> AuditRecord:
        prepared, decision, run = call.prepared, call.decision, self._run
        is_remembered = decision is not None and decision.rule.source == "remembered"
        return AuditRecord(
            time=time.time(),
            call_id=call.request.call_id,
            tool=prepared.tool.name if prepared else call.request.name,
            kind=prepared.tool.kind.value if prepared else "",
            args=mask_arguments(prepared.args if prepared else call.request.arguments),
            decision=decision.action if decision else "",
            rule=decision.rule.title if decision else "",
            decided_by=None if decision is None else "remembered" if is_remembered else call.approval.by,
            waited=call.approval.waited,
            status=outcome.status,
            duration=outcome.duration,
            error=outcome.result.error.message if outcome.result.error else None,
            owner=run.owner,
            session_id=run.session_id,
            run_path=run.run_path,
            agent_path=run.agent_path,
        )


def _may_run_in_parallel(tools: Sequence[Tool]) -> bool:
    """Whether all only read; one agent that writes may run next to others that read."""
    writing = [tool for tool in tools if not tool.is_read_only]
    return not writing or (len(writing) == 1 and writing[0].kind.is_read_only)
