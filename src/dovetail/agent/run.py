"""`agent.run`: one request that runs turn after turn, with tools, until the model is done."""

import asyncio
import dataclasses
from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self, TypedDict
from weakref import ref

from dovetail.agent.arguments import refuse_options
from dovetail.agent.expectation import expect_output
from dovetail.agent.request import AgentRequest, run_handlers
from dovetail.agent.runtime import Runtime
from dovetail.concurrency import iterate_sync, require_asyncio
from dovetail.errors import ConfigError, DovetailError
from dovetail.events.asks import Asker
from dovetail.events.cancel import CancelSignal
from dovetail.events.delta import FinishDelta, TextDelta, Usage
from dovetail.events.run_context import RunContext, current_run, ignore_event
from dovetail.events.run_events import ChildEvent, Emit, Event, RunEnd, RunStart
from dovetail.events.run_result import RunResult
from dovetail.events.tool_context import ToolContext
from dovetail.ids import new_id
from dovetail.loop.budget import Budget, BudgetLimits, find_budget
from dovetail.loop.spend import open_days
from dovetail.policy.mode import choose_mode
from dovetail.response.result import Result
from dovetail.settings.limits import LimitSettings
from dovetail.settings.sections import SubagentSettings
from dovetail.tools.snapshot import ToolSnapshot


class RunOptions(TypedDict, total=False):
    """How a run goes: `on_event` gets every event while it happens, `ask` is asked for approvals, which are
    refused without it, and `cancel` stops the run. `limits` may be a mapping: `{"cost": 0.05}`."""

    limits: BudgetLimits | Mapping[str, Any]
    on_event: Emit
    ask: Asker
    cancel: CancelSignal


def check_options(options: RunOptions) -> None:
    """Reject an unknown option.

    Raises:
        SignatureError: the option is unknown; the message says what to write.
    """
    refuse_options(options, RunOptions.__annotations__)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRun:
    """One request with its tools; the handlers of the agent take part as in any request.

    With a `call`, the agent works for another one that has called it as a tool: with the rights of that run,
    within its limits, and as a part of its events.
    """

    agent: str
    request: AgentRequest
    tools: ToolSnapshot
    runtime: Runtime
    call: ToolContext | None = None

    async def go(self, options: RunOptions) -> RunResult:
        """Run to the end; an error of the model is raised, every other end is in the result."""
        require_asyncio()
        context = self._make_context(options)
        call_id = self.call.call_id if self.call else None
        context.emit(RunStart(self.agent, self.request.requester.model, parent_call_id=call_id))
        try:
            result = await self._work(context)
        except BaseException as error:
            budget = find_budget(context)
            context.emit(explain_break(error, budget.usage if budget else Usage()))
            raise
        context.emit(
            RunEnd(result.reason, result.value, result.usage, result.error, result.limit, result.notice)
        )
        if result.exception is not None:
            raise result.exception
        return result

    async def _work(self, context: RunContext) -> RunResult:
        request = self.request
        request.settings.set("tools.max_rounds", 0)  # the loop itself calls the tools
        async for _ in run_handlers(
            request.handlers.get("request_prefixes"), request.prompt, request.settings
        ):
            pass
        asked = request.build()
        loop = self.runtime.make_loop(request.requester, self.tools, request.settings, options=asked.options)
        outcome = await loop.run(asked.messages, context)
        return outcome if outcome.exception is not None else await self._finish(outcome)

    def _make_context(self, options: RunOptions) -> RunContext:
        if self.call is not None:
            return self._make_child_context(self.call)
        return RunContext(
            run_path=(new_id("run"),),
            agent_path=(self.agent,),
            ask=options.get("ask"),
            bus=self.runtime.active_bus,
            mode=choose_mode(self.request.settings),
            emit=options.get("on_event", ignore_event),
            cancel=options.get("cancel") or CancelSignal(),
            # A tool may run an agent: what that uses, the tool's own run has used.
            budget=self._make_budget(options),
        )

    def _make_child_context(self, call: ToolContext) -> RunContext:
        scope, run_id = call.scope, new_id("run")

        def emit(event: Event, /) -> None:
            scope.emit(ChildEvent(run_id, event))

        context = scope.for_child(run_id, self.agent, emit=emit, budget=self._make_budget({}))
        return dataclasses.replace(context, cancel=CancelSignal(call.cancelled))

    def _make_budget(self, options: RunOptions) -> Budget:
        settings = self.request.settings
        limits = BudgetLimits.read(options.get("limits"), settings.section(SubagentSettings))
        limits = limits.within(settings.section(LimitSettings))
        days = open_days(self.runtime.spend, settings, self.agent)
        above = find_budget(current_run())
        if self.call is not None and above is not None:
            return above.child(limits, days)  # counted, so that agents do not call agents without end
        return Budget(limits, parent=above, days=days)

    async def _finish(self, outcome: RunResult) -> RunResult:
        """Parse the answer as the output asks, and pass it to the handlers like every answer."""
        request = self.request
        finish = FinishDelta(outcome.finish_reason or "stop", outcome.usage, request.requester.model)
        entries = [TextDelta(outcome.text), finish]
        expected = expect_output(request.prompt, request.settings, with_schema=False)
        result = Result(entries, expected.format)
        if outcome.reason == "goal":
            async for _ in run_handlers(request.handlers.get("finally"), result, request.settings):
                pass
        return outcome if result.parsed is None else dataclasses.replace(outcome, data=result.parsed)


def explain_break(error: BaseException, usage: Usage) -> RunEnd:
    """Return the end of a run that was cancelled from outside or failed with an unexpected error."""
    if isinstance(error, asyncio.CancelledError):
        return RunEnd("cancelled", usage=usage)
    name = error.wire_name if isinstance(error, DovetailError) else type(error).__name__
    return RunEnd("error", usage=usage, error={"type": name, "message": str(error)})


class RunStream:
    """The events of a run while they happen, for one reader; afterwards `result` is how the run ended.

    async for event in agent.run_stream("Count the chisels."):
        match event:
            case TextDeltaEvent(delta=text):
                print(text, end="")

    The run starts with the first event that is read. Leaving the loop early stops it; so does the end of an
    `async with` around it. A plain `for` works as well. An error of the model is raised after the last event.
    """

    def __init__(self, run: AgentRun, options: RunOptions) -> None:
        self._run = run
        self._options = options
        self._result: RunResult | None = None
        self._events: ref[AsyncGenerator[Event, None]] | None = None

    def __repr__(self) -> str:
        if self._result is not None:
            return f"<RunStream of {self._run.agent!r}: {self._result!r}>"
        state = "not started" if self._events is None else "in progress" if self._events() else "left"
        return f"<RunStream of {self._run.agent!r}, {state}>"

    @property
    def result(self) -> RunResult:
        """The result of the run, once all its events have been read.

        Raises:
            ConfigError: the run has not ended, or was left before its end.
        """
        if self._result is None:
            raise ConfigError(
                "The run has no result yet.", hint="Read its events to the end: `async for event in stream`."
            )
        return self._result

    def __aiter__(self) -> AsyncGenerator[Event, None]:
        if self._events is not None:
            raise ConfigError(
                "The events of a run can be read only once.", hint="Keep them in a list, or start a new run."
            )
        events = self._read()
        self._events = ref(events)  # the reader alone holds them: a reader that leaves closes them
        return events

    def __iter__(self) -> Iterator[Event]:
        return iterate_sync(self.__aiter__())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        events = self._events() if self._events else None
        if events is not None:
            await events.aclose()

    async def _read(self) -> AsyncGenerator[Event, None]:
        events: asyncio.Queue[Event | None] = asyncio.Queue()
        listener = self._options.get("on_event", ignore_event)

        def emit(event: Event, /) -> None:
            events.put_nowait(event)
            listener(event)

        task = asyncio.create_task(self._run.go({**self._options, "on_event": emit}))
        task.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while (event := await events.get()) is not None:
                yield event
            self._result = await task
        finally:
            task.cancel()
            await asyncio.wait([task])
