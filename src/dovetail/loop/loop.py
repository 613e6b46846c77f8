"""Turn after turn: the model answers, its calls run, their results go back, until it is done.

    calls of an earlier life without a result?  → run them first
    while a limit is not reached:
        turn = ask the model (messages, tools)
        no calls?  → the answer is the goal (an empty one is asked for once more)
        run the calls through the pipeline, append exactly one result for each
        completed, cancelled or going in circles?  → stop
    stopped by a limit?  → one grace turn that must answer

`agent.run` and the sub-agent executor both use this loop.
"""

import asyncio
import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from dovetail.errors import DovetailError, ModelError
from dovetail.events.call import ChatMessage, ModelRequest, ToolCall, ToolSpec, write_result
from dovetail.events.context import CancelSignal
from dovetail.events.run_events import Emit, EndReason, Event, ToolEnd
from dovetail.loop.budget import Budget, BudgetLimits
from dovetail.loop.conversation import Conversation, find_open_calls
from dovetail.loop.judged import stream_judged
from dovetail.loop.limits import Deadline, ResumePoint, UsageMeter, pause_while_asking
from dovetail.loop.request_log import RequestLog, StoredMessages
from dovetail.loop.scope import LoopOutcome, RunScope, entered
from dovetail.loop.stop import DEMANDS, NUDGE, StopRules, demand_result
from dovetail.loop.tracing import agent_span, describe_usage
from dovetail.loop.turn import Turn
from dovetail.requesters.requester import Requester
from dovetail.tools.pipeline.runner import CallOutcome, CallScope, ToolRunner
from dovetail.tools.registry import ToolSnapshot
from dovetail.tracing import record

GRACE = BudgetLimits(turns=1, seconds=60.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnLoop:
    """What stays the same over all turns.

    `completion` names the tool that hands in the result, if one must; `window` is how many tokens the model
    can read, when it is known: what is old is shortened before it is full. With `records_requests` every
    request is told as an event too, `stored` messages by their name. `pace` is the one of requests.
    """

    requester: Requester
    tools: ToolSnapshot
    runner: ToolRunner
    completion: str | None = None
    window: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    records_requests: bool = True
    pace: float = 0.0
    stored: StoredMessages | None = None

    async def run(
        self,
        messages: Sequence[ChatMessage],
        *,
        emit: Emit,
        scope: CallScope,
        budget: Budget | None = None,
        cancel: CancelSignal | None = None,
        earlier: ResumePoint | None = None,
    ) -> LoopOutcome:
        """Go on from `messages` until the model is done, a limit is reached or somebody cancels.

        After a crash `earlier` says what was done before; the budget must count it too.
        """
        budget = budget or Budget()
        meter = UsageMeter(emit, budget, earlier)
        way = LoopRun(self, messages, emit, budget, cancel or CancelSignal(), meter)
        with agent_span(scope.agent_path, self.requester.model, scope.session_id) as span:
            outcome = await way.go(scope)
            outcome = await way.rescue(outcome, scope) if outcome.reason in DEMANDS else outcome
            record(span, describe_usage(outcome.usage), error=outcome.error and outcome.reason)
        return outcome


class LoopRun:
    """One way through the loop, with what it has gathered so far."""

    def __init__(
        self,
        loop: TurnLoop,
        messages: Sequence[ChatMessage],
        emit: Emit,
        budget: Budget,
        cancel: CancelSignal,
        meter: UsageMeter,
    ) -> None:
        self.loop = loop
        self.conversation = Conversation(messages)
        self.budget = budget
        self.cancel = cancel
        self.meter = meter
        self.text = ""
        self._emit_outside = emit
        self._log = RequestLog(emit, loop.requester, loop.stored) if loop.records_requests else None
        self._deadline = Deadline(budget, cancel)
        self._rules = StopRules(loop.completion, cancel)

    async def go(self, scope: CallScope) -> LoopOutcome:
        async with self._deadline:
            specs = self.loop.tools.specs
            outcome = await self._finish_turn(scope)
            while outcome is None:
                outcome = await self._step(specs, scope)
            return outcome

    async def _finish_turn(self, scope: CallScope) -> LoopOutcome | None:
        """Run the calls that an earlier life left open; None when there are none, or the loop goes on."""
        pending = find_open_calls(self.conversation.messages)
        if not pending:
            return None
        self.meter.take_up_turn()
        outcomes = await self._run_calls(pending, scope)
        self.meter.end_turn("tool-calls")
        return self._look_back(outcomes)

    async def rescue(self, outcome: LoopOutcome, scope: CallScope) -> LoopOutcome:
        """One last turn in which the model must answer; a failure leaves the outcome as it was."""
        completion = self.loop.completion
        self.conversation.say(demand_result(outcome.reason, completion))
        specs = [tool.spec for tool in self.loop.tools if tool.name == completion]
        self._deadline = Deadline(Budget(GRACE), self.cancel)
        async with self._deadline:
            rescued = await self._step(specs, scope, choice="required" if completion else "none")
        if rescued is not None and rescued.reason == "goal":
            return dataclasses.replace(rescued, limit=outcome.reason)
        return self._end(outcome.reason)

    async def _step(
        self,
        specs: Sequence[ToolSpec],
        scope: CallScope,
        choice: Literal["auto", "none", "required"] = "auto",
    ) -> LoopOutcome | None:
        """One turn; None when the loop goes on."""
        limit = self.budget.reached()
        if limit is not None and choice == "auto":
            return self._end(limit)
        try:
            await self._make_room()
            turn = await self._take_turn(specs, choice)
        except DovetailError as error:
            return self._end("error", error=error)
        outcomes: list[CallOutcome] = []
        if turn.calls:
            self.meter.tell_answer(turn.finish.usage)
            outcomes = await self._run_calls(turn.calls, scope)
        self.meter.end_turn(turn.finish.reason)
        return self._look_back(outcomes, turn.text)

    def _look_back(self, outcomes: list[CallOutcome], text: str = "") -> LoopOutcome | None:
        """How the loop ends after a turn; None when it goes on."""
        if self._deadline.reason is not None:
            return self._end(self._deadline.reason)
        stop = self._rules.after_calls(outcomes) if outcomes else self._rules.after_text(text)
        if stop is not None:
            return self._end(stop.reason, data=stop.data)
        if not outcomes:
            self.conversation.say(NUDGE)
        return None

    async def _make_room(self) -> None:
        """Shorten what is old when the model's window is nearly full."""
        fitted = await self.conversation.make_room(self.loop.window, self.loop.requester)
        if fitted is not None and fitted.asked is not None:
            if self._log is not None:
                self._log.tell_summary(self.meter.turns + 1, fitted.asked)
            self.meter.add_summary(fitted.usage)

    async def _take_turn(
        self, specs: Sequence[ToolSpec], choice: Literal["auto", "none", "required"]
    ) -> Turn:
        self.meter.begin_turn()
        turn = Turn(self.meter.turns, self._emit, self.conversation.call_ids)
        request = ModelRequest(
            messages=tuple(self.conversation.messages),
            tools=specs,
            tool_choice="required" if choice == "auto" and self._must_call else choice,
            options=self.loop.options,
            pace=self.loop.pace,
        )
        if self._log is not None:
            self._log.tell(self.meter.turns, request)
        try:
            await self._deadline.guard(asyncio.create_task(self._read(turn, request)))
        finally:
            if turn.text or turn.calls:
                self.conversation.add(turn.message)
            self.text = turn.text or self.text
            self.meter.add(turn.finish.usage)
        return turn

    @property
    def _must_call(self) -> bool:
        """Whether text would be no use: a small model that may answer in words makes its result up."""
        return self.loop.completion is not None and bool(getattr(self.loop.requester, "answer_ways", ()))

    async def _read(self, turn: Turn, request: ModelRequest) -> None:
        """Read the answer; a model that proves unable to call functions is asked in words."""
        requester = self.loop.requester
        if requester.calls_tools:
            try:
                return await turn.read_answer(requester.model, requester.stream(request))
            except ModelError:
                if requester.calls_tools or turn.text:
                    raise
        await turn.read_answer(requester.model, stream_judged(requester, request))

    async def _run_calls(self, calls: list[ToolCall], scope: CallScope) -> list[CallOutcome]:
        inner = dataclasses.replace(
            scope,
            emit=self._emit,
            cancelled=self._deadline.event,
            ask=pause_while_asking(scope.ask, self.budget),
            pause=self.budget.paused,
        )
        with entered(RunScope(calls=inner, budget=self.budget, cancel=self.cancel, tools=self.loop.tools)):
            outcomes = await self.loop.runner.run_batch(self.loop.tools, calls, inner)
        for outcome in outcomes:
            self.conversation.add(write_result(outcome.call.call_id, outcome.result.llm_content))
        return outcomes

    def _end(self, reason: EndReason, *, data: Any = None, error: DovetailError | None = None) -> LoopOutcome:
        return LoopOutcome(
            reason=reason,
            text=self.text,
            data=data,
            messages=self.conversation.added,
            usage=self.budget.usage,
            turns=self.meter.turns,
            error=error,
        )

    def _emit(self, event: Event) -> None:
        self._emit_outside(event)
        if isinstance(event, ToolEnd) and self.cancel.mode == "after_tool":
            self.cancel.request("now")
