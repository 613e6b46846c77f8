"""The turn loop: the model answers, its calls run, their results go back, until it is done.

    calls left without a result by a crash?  → run them first
    while a limit is not reached:
        add the messages that have reached the run since the last turn
        turn = ask the model (messages, tools)
        no calls?  → the answer is the goal (an empty one is asked for once more), unless another message came
        run the calls through the pipeline, append exactly one result for each
        completed, cancelled or repeating itself?  → stop
    stopped by a limit?  → one grace turn that must answer

Chats, `agent.run` and sub-agents are runs of this loop; `agent.start` with tools uses it inside one request.
A `ToolStrategy` says how the model is asked.
"""

import asyncio
import dataclasses
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

from dovetail.data.text import report_error
from dovetail.errors import ContextLengthError, DovetailError, LimitError, StoreError
from dovetail.events.call import ChatMessage, ModelRequest, ToolCall, ToolSpec, write_result
from dovetail.events.cancel import CancelSignal
from dovetail.events.run_context import RunContext
from dovetail.events.run_events import Emit, EndReason, Event, ToolEnd
from dovetail.events.run_result import RunResult
from dovetail.loop.budget import LAST_SECONDS, Budget, BudgetLimits, find_budget
from dovetail.loop.compaction import Summaries
from dovetail.loop.completion import AnswerRule
from dovetail.loop.conversation import Conversation, find_open_calls, read_mail
from dovetail.loop.guard import GuardedRequester, guard, without_guard
from dovetail.loop.handed_in import find_complaint, hand_in_text
from dovetail.loop.limits import Deadline, ResumePoint, UsageMeter
from dovetail.loop.request_log import RequestLog, StoredMessages
from dovetail.loop.room import Room
from dovetail.loop.spend import find_lower
from dovetail.loop.stop import DEMANDS, StopRules, demand_call, demand_result
from dovetail.loop.turn import ToolStrategy, Turn
from dovetail.requesters.prices import Pricing
from dovetail.requesters.requester import Requester
from dovetail.requesters.tracing import agent_span, describe_usage
from dovetail.settings.limits import AnswerLimits
from dovetail.tools.pipeline.runner import CallOutcome, ToolRunner
from dovetail.tools.snapshot import ToolSnapshot
from dovetail.tracing import record


class LoopOptions(TypedDict, total=False):
    """What a loop has in addition to its model and tools; see `TurnLoop`."""

    completion: str | None
    answer_rule: AnswerRule | None
    options: Mapping[str, Any]
    pace: float
    stored: StoredMessages | None
    schema: Mapping[str, Any] | None
    strategy: ToolStrategy


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnLoop:
    """A model with its tools, and everything else that stays the same over all turns.

    `completion` names the tool that hands in the result, if one must; an `answer_rule` says which answers in
    words are the result. `window` is the number of tokens that the model can read, if it is set; otherwise
    the requester knows it or finds it out. Old messages are shortened before it is full. `price` is what its
    tokens cost, if known. With `records_requests` each request is an event, too, with `stored` messages by
    their name. `schema`, `options` and `pace` are those of each request, and so are the `sizes` of its
    answer. `summaries` are shared with earlier runs of the same conversation.
    """

    requester: Requester
    tools: ToolSnapshot
    runner: ToolRunner
    completion: str | None = None
    answer_rule: AnswerRule | None = None
    window: int | None = None
    price: Pricing | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    records_requests: bool = True
    pace: float = 0.0
    stored: StoredMessages | None = None
    schema: Mapping[str, Any] | None = None
    strategy: ToolStrategy = field(default_factory=ToolStrategy)
    summaries: Summaries | None = None
    sizes: AnswerLimits = field(default_factory=AnswerLimits)

    async def run(
        self, messages: Sequence[ChatMessage], context: RunContext, earlier: ResumePoint | None = None
    ) -> RunResult:
        """Run from `messages` until the model is done, a limit is reached or the run is cancelled.

        After a crash, `earlier` is where the run resumes; the budget of the context must count it, too.
        """
        meter = UsageMeter(context.emit, find_budget(context) or Budget(), earlier)
        run = LoopRun(self, messages, dataclasses.replace(context, budget=meter.budget), meter)
        with agent_span(context.agent_path, self.requester.model, context.session_id) as span:
            try:
                outcome = await run.go()
                outcome = await run.rescue(outcome) if outcome.reason in DEMANDS else outcome
            finally:
                await run.release()
            failure = str(outcome.error.get("type") or outcome.reason) if outcome.error else None
            record(span, describe_usage(outcome.usage), error=failure)
        return outcome

    async def answer(self, messages: Sequence[ChatMessage], context: RunContext, rounds: int) -> RunResult:
        """Use tools inside one request: after `rounds` turns with calls the model must answer.

        A request is not a run. The model reads what the program wrote and nothing else: no empty answer is
        asked for again and no limit is mentioned. What its tools start belongs to the run around it.
        """
        meter = UsageMeter(context.emit, Budget(BudgetLimits(turns=rounds, seconds=None)))
        run = LoopRun(self, messages, context, meter, is_request=True)
        outcome = await run.go()
        return await run.conclude() if outcome.reason == "max-turns" else outcome


class LoopRun:
    """One run of a loop, or one request that uses it: the conversation, the text and the usage so far."""

    def __init__(
        self,
        loop: TurnLoop,
        messages: Sequence[ChatMessage],
        context: RunContext,
        meter: UsageMeter,
        *,
        is_request: bool = False,
    ) -> None:
        self.loop = loop
        self.conversation = Conversation(messages, loop.summaries)
        self.context = context
        self.meter = meter
        self.budget = meter.budget
        self.cancel = context.cancel
        self._emit = _make_emit(meter.emit, context.cancel)
        self.text = ""
        self._complaint = ""  # why no result was taken so far, if one must be handed in
        self._finish_reason = ""
        self._cut_notice: str | None = None  # why we ended the last answer, if we did
        self._is_request = is_request
        # A request of an agent comes with a guard of its own.
        self._requester = loop.requester if is_request else guard(loop.requester, self.budget, loop.price)
        self._guard = self._requester if isinstance(self._requester, GuardedRequester) else None
        records = loop.records_requests and not is_request
        self._log = RequestLog(meter.emit, loop.requester, loop.stored) if records else None
        self._room = None if is_request else Room(loop, self.conversation, meter, self._log)
        # A run that may call tools keeps time for a last turn; an answer without them may take all of it.
        self._kept_seconds = self.budget.last_seconds if loop.tools.specs else 0.0
        self._deadline = Deadline(self.budget, self.cancel, self._kept_seconds)
        self._rules = StopRules(
            loop.completion,
            self.cancel,
            insists=not is_request,
            messages=messages,
            answer=loop.answer_rule,
        )

    async def go(self) -> RunResult:
        """Take turn after turn until the loop ends."""
        async with self._deadline if not self._is_request else nullcontext():
            specs = self.loop.tools.specs
            outcome = await self._finish_turn()
            while outcome is None or await self._hears_more(outcome):
                outcome = await self._step(specs)
            return outcome

    async def rescue(self, outcome: RunResult) -> RunResult:
        """Take one last turn in which the model must answer; if it fails, the outcome stays as it was.

        It has the rest of the run's time, and a minute at most; without any it is left out.
        """
        left = self.budget.seconds_left()
        if left is not None and (left <= 0 or (outcome.reason == "timeout" and not self._kept_seconds)):
            return outcome
        completion = self.loop.completion
        has_repeated = self._rules.has_repeated
        self.conversation.say(demand_result(outcome.reason, completion, has_repeated=has_repeated))
        specs = [tool.spec for tool in self.loop.tools if tool.name == completion]
        limits = BudgetLimits(turns=1, seconds=find_lower(left, LAST_SECONDS))
        self._deadline = Deadline(Budget(limits), self.cancel)
        async with self._deadline:
            rescued = await self._step(specs, choice="required" if completion else "none")
        if rescued is not None and rescued.reason == "goal":
            return dataclasses.replace(rescued, limit=outcome.reason, notice=outcome.notice)
        notice = " ".join(filter(None, (outcome.notice, self._complaint))) or None
        return dataclasses.replace(self._end(outcome.reason, notice=notice), error=outcome.error)

    async def release(self) -> None:
        """Give back what is kept for the last answer; after a crash, the run that continues does so."""
        if self._guard is not None:
            with suppress(StoreError):
                await self._guard.release()

    async def conclude(self) -> RunResult:
        """Ask once more, now for the answer: the tools of this request are used up."""
        return await self._step(self.loop.tools.specs, choice="none") or self._end("max-turns")

    async def _finish_turn(self) -> RunResult | None:
        """Run the calls that a crash left open; return None if there were none, or if the loop continues."""
        pending = find_open_calls(self.conversation.messages)
        if not pending or self._is_request:
            return None
        self.meter.resume_turn()
        outcomes = await self._run_calls(pending)
        self.meter.end_turn("tool-calls")
        return await self._look_back(outcomes)

    async def _step(
        self,
        specs: Sequence[ToolSpec],
        choice: Literal["auto", "none", "required"] = "auto",
    ) -> RunResult | None:
        """Take one turn; return None if the loop continues."""
        if (stopped := self._find_stop()) is not None:
            return stopped
        limit = self.budget.reached(self._kept_seconds)
        if limit is not None and choice == "auto":
            return self._end(limit, notice=self.budget.explain(limit))
        self._set_phase(specs, is_last=choice != "auto")
        await self._settle(hears=choice == "auto")
        try:
            if self._room is not None:
                await self._room.make(specs, self._summarizer, self._deadline)
            turn = await self._take_turn(specs, choice)
        except LimitError as error:
            if self._is_request:
                return self._end("error", error=error)
            return dataclasses.replace(self._end(error.limit, notice=str(error)), error=report_error(error))
        except DovetailError as error:
            return self._end("error", error=error)
        outcomes: list[CallOutcome] = []
        if turn.calls:
            self.meter.report_answer(turn.finish.usage)
            outcomes = await self._run_calls(turn.calls)
        self.meter.end_turn(turn.finish.reason, turn.finish.requested, turn.timing)
        self._finish_reason, self._cut_notice = turn.finish.reason, turn.finish.notice or None
        handed_in = None if turn.calls else await self._read_words(turn.text)
        return handed_in or await self._look_back(outcomes, turn.text)

    async def _read_words(self, text: str) -> RunResult | None:
        """Return the end of a run that must hand in a result, if an answer without calls is that result."""
        completion = None if self.loop.answer_rule else self.loop.completion
        if completion is None or self._is_request or not text.strip() or self._deadline.reason is not None:
            return None
        outcome = await hand_in_text(self.loop.runner, self.loop.tools, completion, text, self.context)
        if outcome is None:
            self._complaint = f"The answer was text and not a call of `{completion}`."
            return None
        if outcome.status == "ok":
            return self._end("goal", data=outcome.result.data)
        self._complaint = find_complaint([outcome], completion)
        return None

    async def _settle(self, *, hears: bool) -> None:
        """Store what the model is going to read: after a crash, it reads what it has read before.

        A process that was frozen asks nothing for a run that another one has taken over.
        """
        await self.context.confirm()
        if self.meter.turns:
            await self.context.settle()
        if hears and await self._read_mail():
            await self.context.settle()

    async def _read_mail(self) -> bool:
        """Add the messages that have reached the run to the conversation; return whether there were any."""
        mail = [] if self._is_request else await read_mail(self.context)
        for message in mail:
            self.conversation.add(message)
        if mail:
            self._rules.start_over()
        return bool(mail)

    async def _hears_more(self, outcome: RunResult) -> bool:
        """Whether a message came while the model wrote its last answer: one more turn answers it."""
        may_go_on = outcome.reason == "goal" and self.cancel.mode is None and self.budget.reached() is None
        return may_go_on and await self._read_mail()

    def _set_phase(self, specs: Sequence[ToolSpec], *, is_last: bool) -> None:
        """Let the guard keep what the grace turn needs, once the run has begun and may call tools."""
        if self._guard is not None:
            works = "only" if not specs else "work" if self.meter.turns > 0 else "first"
            self._guard.phase = "last" if is_last else works

    async def _look_back(self, outcomes: list[CallOutcome], text: str = "") -> RunResult | None:
        """Return how the loop ends after a turn; None if it continues."""
        if (stopped := self._find_stop()) is not None:
            return stopped
        rules = self._rules
        reason = self._finish_reason
        stop = rules.after_calls(outcomes) if outcomes else await rules.after_text(text, reason)
        if stop is not None:
            return self._end(stop.reason, data=stop.data, notice=stop.notice or self._cut_notice)
        if outcomes and rules.warning is not None:
            self.conversation.say(rules.warning)
        if not outcomes:
            completion = self.loop.completion if text.strip() and self.loop.answer_rule is None else None
            self.conversation.say(
                rules.correction if completion is None else demand_call(completion, self._complaint)
            )
        return None

    def _find_stop(self) -> RunResult | None:
        """Return the end of a run that was cancelled or is out of time; None if it may continue."""
        reason = self._deadline.reason
        if reason is None:
            return None
        return self._end(reason, notice=self.budget.explain(reason) if reason == "timeout" else None)

    @property
    def _summarizer(self) -> Requester | None:
        """The requester for summaries; None if the only request that is left is kept for the last answer."""
        return self._requester if self._guard is None or self._guard.phase != "last" else None

    async def _take_turn(
        self, specs: Sequence[ToolSpec], choice: Literal["auto", "none", "required"]
    ) -> Turn:
        """Take one turn; if the model refuses the conversation as too long, once more with a shorter one."""
        said = len(self.conversation.added)
        try:
            return await self._ask(specs, choice, begins=True)
        except ContextLengthError:
            if self._room is None or len(self.conversation.added) > said:
                raise
            if not await self._room.shrink(self._summarizer, self._deadline):
                raise
        return await self._ask(specs, choice)

    async def _ask(
        self,
        specs: Sequence[ToolSpec],
        choice: Literal["auto", "none", "required"],
        *,
        begins: bool = False,
    ) -> Turn:
        request = ModelRequest(
            messages=tuple(self.conversation.messages),
            tools=specs,
            tool_choice="required" if choice == "auto" and self._must_call else choice,
            schema=self.loop.schema,
            options=self.loop.options,
            pace=self.loop.pace,
            sizes=self.loop.sizes,
        )
        if self._guard is not None:  # it may wait for what other requests hold
            await self._deadline.guard(asyncio.create_task(self._guard.admit(request)))
        if begins:
            self.meter.begin_turn()
        turn = Turn(self.meter.turns, self._emit, self.conversation.call_ids)
        if self._guard is not None and self._deadline.reason is not None:
            await self._guard.withdraw()
            return turn
        if self._log is not None:
            self._log.record(self.meter.turns, request)
        try:
            reading = self.loop.strategy.read_turn(turn, self._requester, request)
            if self._is_request:  # its response has the time limit and the cancel
                await reading
            else:
                await self._deadline.guard(asyncio.create_task(reading))
        finally:
            if self._guard is not None:
                await self._guard.withdraw()
            if turn.text or turn.calls:
                self.conversation.add(turn.message)
            self.text = turn.text or self.text
            self.meter.add(turn.finish.usage)
        return turn

    @property
    def _must_call(self) -> bool:
        """Whether the model must call a tool: a small model that may answer in text makes its result up."""
        return self.loop.completion is not None and bool(getattr(self.loop.requester, "answer_ways", ()))

    async def _run_calls(self, calls: list[ToolCall]) -> list[CallOutcome]:
        tools = self.loop.tools
        context = dataclasses.replace(
            self.context,
            emit=self._emit,
            tools=tools,
            model=without_guard(self.loop.requester),
            cancel=self._deadline.signal,
        )
        with self._guard.keep_last_answer() if self._guard is not None else nullcontext():
            outcomes = await self.loop.runner.run_batch(tools, calls, context)
        for outcome in outcomes:
            self.conversation.add(write_result(outcome.call.call_id, outcome.result.llm_content))
        self._complaint = find_complaint(outcomes, self.loop.completion) or self._complaint
        await self.loop.strategy.take_outcomes(outcomes)
        return outcomes

    def _end(
        self,
        reason: EndReason,
        *,
        data: Any = None,
        error: DovetailError | None = None,
        notice: str | None = None,
    ) -> RunResult:
        return RunResult(
            reason=reason,
            finish_reason=self._finish_reason,
            notice=notice,
            text=self.text,
            data=data,
            messages=self.conversation.added,
            usage=self.budget.usage,
            turns=self.meter.turns,
            error=report_error(error) if error else None,
            exception=error,
        )


def _make_emit(emit: Emit, cancel: CancelSignal) -> Emit:
    """Return how the events of a run are emitted.

    Not a method of the run: what its calls leave behind, such as the timers of the event loop, holds their
    context for minutes, and that must not hold the conversation.
    """

    def emit_event(event: Event, /) -> None:
        emit(event)
        if isinstance(event, ToolEnd) and cancel.mode == "after_tool":
            cancel.request("now")

    return emit_event
