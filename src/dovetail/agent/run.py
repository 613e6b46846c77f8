"""`agent.run`: one request that runs turn after turn, with tools, until the model is done."""

import asyncio
import dataclasses
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Self, TypedDict
from weakref import ref

from dovetail.agent.arguments import refuse_options
from dovetail.agent.expectation import TypedOutput
from dovetail.agent.goal import RunGoal
from dovetail.agent.request import AgentRequest, run_handlers
from dovetail.agent.runtime import Runtime
from dovetail.concurrency import iterate_sync, require_asyncio
from dovetail.data.text import shorten
from dovetail.errors import ConfigError, DovetailError, SignatureError
from dovetail.events.asks import Asker
from dovetail.events.call import ChatMessage
from dovetail.events.cancel import CancelSignal
from dovetail.events.delta import Usage
from dovetail.events.run_context import RunContext, current_run, ignore_event
from dovetail.events.run_events import ChildEvent, Emit, Event, RunEnd, RunStart
from dovetail.events.run_result import RunResult
from dovetail.events.tool_context import ToolContext
from dovetail.ids import new_id
from dovetail.loop.budget import Budget, BudgetLimits, RunLimits, find_budget
from dovetail.loop.spend import open_days
from dovetail.policy.mode import choose_mode
from dovetail.settings.limits import LimitSettings
from dovetail.settings.sections import SubagentSettings
from dovetail.tools.snapshot import ToolSnapshot

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    T = TypeVar("T", default=Any)
else:
    from typing import TypeVar

    T = TypeVar("T")


_NO_TASK = (
    "Pass the task: `run('…')`. What `input` filled is sent once, and the next request begins empty, except "
    "for what was set with `always=True`."
)


class RunOptions(TypedDict, total=False):
    """How a run goes: `on_event` gets every event while it happens, `ask` is asked for approvals, which are
    refused without it, and `cancel` stops the run. `limits` may be a mapping: `{"cost": 0.05}`. `history` is
    the conversation so far, such as the `messages` of an earlier result."""

    limits: BudgetLimits | RunLimits
    on_event: Emit
    ask: Asker
    cancel: CancelSignal
    history: Iterable[ChatMessage]


def check_options(options: RunOptions) -> None:
    """Reject an unknown option, a text as the history, and a listener that nothing would await.

    Raises:
        SignatureError: the option is unknown or of no use; the message says what to write.
    """
    refuse_options(options, (*RunOptions.__annotations__, "returns"))
    if isinstance(options.get("history"), str):
        raise SignatureError(
            "The history of a run must be a list of messages such as "
            f"[{{'role': 'user', 'content': 'Hi.'}}], got {shorten(options.get('history'))}.",
            hint="To continue an earlier run, write `history=result.messages`.",
        )
    if inspect.iscoroutinefunction(options.get("on_event")):
        raise SignatureError(
            "on_event must be a plain function, got a coroutine function.",
            hint="To await something for each event, write `async for event in agent.run_stream(…)`.",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRun(Generic[T]):
    """One request with its tools, `typed` if it must return an instance; the agent's handlers take part.

    With a `call`, the agent works for another one that has called it as a tool: with the rights of that run,
    within its limits, and as a part of its events.
    """

    agent: str
    request: AgentRequest
    tools: ToolSnapshot
    runtime: Runtime
    call: ToolContext | None = None
    typed: TypedOutput[T] | None = None
    history: Sequence[ChatMessage] = ()
    at_end: list[Callable[[RunResult[T]], Awaitable[None]]] = field(default_factory=list[Any])
    """Called before the run ends, with the result that has the new messages only."""

    async def go(self, options: RunOptions) -> RunResult[T]:
        """Run to the end; a failure is raised, every other end is in the result."""
        result = await self.end(options)
        if result.exception is not None:
            raise result.exception
        return result

    async def end(self, options: RunOptions) -> RunResult[T]:
        """Run to the end; the result also says why the run failed, if it did."""
        require_asyncio()
        context = self._make_context(options)
        call_id = self.call.call_id if self.call else None
        context.emit(RunStart(self.agent, self.request.requester.model, parent_call_id=call_id))
        try:
            result, shown = await self._work(context)
            for note in self.at_end:
                await note(result)
        except BaseException as error:
            budget = find_budget(context)
            context.emit(explain_break(error, budget.usage if budget else Usage()))
            raise
        context.emit(RunEnd(result.reason, shown, result.usage, result.error, result.limit, result.notice))
        return dataclasses.replace(result, messages=[*self.history, *result.messages])

    async def _work(self, context: RunContext) -> tuple[RunResult[T], Any]:
        """Return the result, and its value as events show it."""
        request = self.request
        request.settings.set("tools.max_rounds", 0)  # the loop itself calls the tools
        if self.typed is not None:
            request.prompt.replace("output", None if len(self.tools) else self.typed.shown)
        async for _ in run_handlers(
            request.handlers.get("request_prefixes"), request.prompt, request.settings
        ):
            pass
        goal = RunGoal(request, self.tools, self.typed)
        before, asked = request.write_messages(_NO_TASK)
        loop = self.runtime.make_loop(
            request.requester,
            goal.tools,
            request.settings,
            options=request.prompt.get("options") or {},
            schema=goal.schema,
            completion=goal.completion,
            answer_rule=goal.rule,
        )
        outcome = await loop.run([*before, *asked], context)
        outcome = dataclasses.replace(outcome, messages=[*asked, *outcome.messages])
        if outcome.exception is not None:
            return outcome, outcome.value
        result = await self._finish(outcome, goal)
        return result, goal.show(result.data) if result.data is not None else result.value

    async def _finish(self, outcome: RunResult, goal: RunGoal[T]) -> RunResult[T]:
        """Read the answer as the goal says, and pass it to the handlers like every answer."""
        request, result = self.request, await goal.read(outcome)
        if outcome.reason == "goal":
            if not goal.is_typed:
                result.warn_if_unusable()
            async for _ in run_handlers(request.handlers.get("finally"), result, request.settings):
                pass
        return goal.conclude(outcome, result)

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


def explain_break(error: BaseException, usage: Usage) -> RunEnd:
    """Return the end of a run that was cancelled from outside or failed with an unexpected error."""
    if isinstance(error, asyncio.CancelledError):
        return RunEnd("cancelled", usage=usage)
    name = error.wire_name if isinstance(error, DovetailError) else type(error).__name__
    return RunEnd("error", usage=usage, error={"type": name, "message": str(error)})


class RunStream(Generic[T]):
    """The events of a run while they happen, for one reader; afterwards `result` is how the run ended.

    async for event in agent.run_stream("Count the chisels."):
        match event:
            case TextDeltaEvent(delta=text):
                print(text, end="")

    The run starts with the first event that is read. Leaving the loop early stops it; so does the end of an
    `async with` around it. A plain `for` works as well. An error of the model is raised after the last event.
    """

    def __init__(self, run: AgentRun[T], options: RunOptions) -> None:
        self._run = run
        self._options = options
        self._result: RunResult[T] | None = None
        self._events: ref[AsyncGenerator[Event, None]] | None = None

    def __repr__(self) -> str:
        if self._result is not None:
            return f"<RunStream of {self._run.agent!r}: {self._result!r}>"
        state = "not started" if self._events is None else "in progress" if self._events() else "left"
        return f"<RunStream of {self._run.agent!r}, {state}>"

    @property
    def result(self) -> RunResult[T]:
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
