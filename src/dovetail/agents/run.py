"""Runs one agent from its definition: its own context, limits and rights, inside the run that called it.

A child has the intersection of its own tools and its caller's, draws from the caller's budget, is cancelled
with it, and its events flow up tagged with its run id, never into the caller's model context.
"""

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

from dovetail.agents.definition import AgentDefinition, AgentInputs, convert_input_config_to_json_schema
from dovetail.agents.prepare import (
    AgentHost,
    WorkspaceHost,
    build_messages,
    build_preface,
    find_limits,
    prepare_loop,
)
from dovetail.data.text import to_text
from dovetail.errors import DovetailError, ToolError
from dovetail.events.context import CancelSignal
from dovetail.events.delta import Usage
from dovetail.events.run_events import ChildEvent, EndReason, Event, RunEnd, RunStart
from dovetail.ids import new_id
from dovetail.loop.budget import Budget
from dovetail.loop.loop import TurnLoop
from dovetail.loop.scope import LoopOutcome, RunScope, current_run
from dovetail.policy.bus import MessageBus
from dovetail.policy.mode import choose_mode
from dovetail.schema.validate import compile_schema
from dovetail.tools.makers.declarative import check_arguments
from dovetail.tools.pipeline.runner import Ask, CallScope
from dovetail.tools.registry import ToolSnapshot

OnActivity = Callable[[Event], None]
Signal: TypeAlias = asyncio.Event | threading.Event

_PACE = 0.05
"""Seconds between two looks at a signal that other threads set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOutput:
    """What an agent's run gave, and how it ended.

    `usage` counts its children too; `limit` names what was reached when a grace turn saved the answer.
    """

    result: str
    terminate_reason: EndReason
    turns: int
    duration: float
    usage: Usage
    data: Any = None
    error: str | None = None
    limit: EndReason | None = None


class AgentExecutor:
    """One run of an agent."""

    def __init__(
        self,
        definition: AgentDefinition,
        app: AgentHost,
        on_activity: OnActivity | None = None,
        ask: Ask | None = None,
        bus: MessageBus | None = None,
    ) -> None:
        self.definition = definition
        self._app = app
        self._on_activity = on_activity
        self._ask = ask
        self._bus = bus
        self.run_id = new_id("run")
        self.parent_call_id: str | None = None
        self.caller: CallScope | None = None
        """The scope of the call that starts it, where that call belongs to no run."""

    @classmethod
    async def create(
        cls,
        definition: AgentDefinition,
        app: AgentHost,
        on_activity: OnActivity | None = None,
        *,
        ask: Ask | None = None,
        bus: MessageBus | None = None,
    ) -> Self:
        """An executor for `definition`; `on_activity` sees every event of its runs.

        `ask` is asked for approvals, those of its children too, when it runs below no other run; listeners on
        `bus` can answer them as well. Without either they are refused.
        """
        return cls(definition, app, on_activity, ask, bus)

    async def run(self, inputs: AgentInputs, signal: Signal | None = None) -> AgentOutput:
        """Run the agent on `inputs`, below the current run if there is one; setting `signal` cancels it.

        Raises:
            ToolError: the inputs do not fit the agent's schema, or the agent is at work above already.
        """
        started = time.perf_counter()
        parent = current_run()
        self._refuse_circle(parent)
        self._check(inputs)
        loop, scope = self._prepare_loop(parent), self._scope(parent)
        messages = build_messages(self.definition, inputs, preface=self._build_preface(loop.tools, scope))
        budget = self._budget(parent)
        emit = self._emitter(parent)
        emit(self._start(loop, parent))
        try:
            async with _joined(signal, parent) as cancel:
                outcome = await loop.run(messages, emit=emit, scope=scope, budget=budget, cancel=cancel)
            output = self._to_output(outcome, time.perf_counter() - started)
        except BaseException as error:
            emit(_explain_break(error, budget.usage))
            raise
        failure = {"type": "error", "message": output.error} if output.error else None
        emit(RunEnd(outcome.reason, output.result, outcome.usage, failure))
        return output

    def _to_output(self, outcome: LoopOutcome, duration: float) -> AgentOutput:
        return AgentOutput(
            result=self._write_result(outcome),
            terminate_reason=outcome.reason,
            turns=outcome.turns,
            duration=duration,
            usage=outcome.usage,
            data=outcome.data,
            error=str(outcome.error) if outcome.error else None,
            limit=outcome.limit,
        )

    def _write_result(self, outcome: LoopOutcome) -> str:
        value = outcome.text if outcome.data is None else outcome.data
        process = self.definition.process_output
        if process is None or outcome.reason != "goal":
            return to_text(value)
        try:
            return to_text(process(value))
        except Exception as error:
            name = self.definition.name
            raise ToolError(f"`process_output` of agent {name!r} failed: {error!r}") from error

    def _refuse_circle(self, parent: RunScope | None) -> None:
        path = parent.calls.agent_path if parent else ()
        if self.definition.name in path:
            way = " → ".join((*path, self.definition.name))
            raise ToolError(f"agents may not call each other in a circle: {way}", type="agent_circle")

    def _check(self, inputs: AgentInputs) -> None:
        name, schema = self.definition.name, convert_input_config_to_json_schema(self.definition.input_config)
        check_arguments(name, compile_schema(schema, owner=name), inputs)

    def _prepare_loop(self, parent: RunScope | None) -> TurnLoop:
        if parent is None:
            return prepare_loop(self._app, self.definition)
        return prepare_loop(
            self._app, self.definition, available=parent.tools, agent_path=parent.calls.agent_path
        )

    def _build_preface(self, tools: ToolSnapshot, scope: CallScope) -> str:
        app = self._app
        return (
            build_preface(app, "task", time.time(), tools, scope.mode)
            if isinstance(app, WorkspaceHost)
            else ""
        )

    def _start(self, loop: TurnLoop, parent: RunScope | None) -> RunStart:
        return RunStart(
            agent=self.definition.name,
            model=loop.requester.model,
            generation=loop.tools.generation,
            session_id=parent.calls.session_id if parent else None,
            parent_call_id=self.parent_call_id,
        )

    def _scope(self, parent: RunScope | None) -> CallScope:
        calls = parent.calls if parent else self.caller
        if calls is None:
            calls = CallScope(ask=self._ask, mode=choose_mode(self._app.settings))
        return CallScope(
            session_id=calls.session_id,
            run_path=(*calls.run_path, self.run_id),
            agent_path=(*calls.agent_path, self.definition.name),
            owner=calls.owner,
            tab_id=calls.tab_id,
            mode=calls.mode,
            ask=calls.ask,
            bus=self._bus or (calls.bus.derive(self.definition.name) if calls.bus else None),
            settle=calls.settle,
            is_abandoned=calls.is_abandoned,
        )

    def _budget(self, parent: RunScope | None) -> Budget:
        limits = find_limits(self.definition, self._app.settings)
        return parent.budget.child(limits) if parent else Budget(limits)

    def _emitter(self, parent: RunScope | None) -> OnActivity:
        def emit(event: Event) -> None:
            if parent is not None:
                parent.calls.emit(ChildEvent(self.run_id, event))
            if self._on_activity is not None:
                self._on_activity(event)

        return emit


def _explain_break(error: BaseException, usage: Usage) -> RunEnd:
    """The end of a run that was broken off from outside, or by a fault of ours."""
    if isinstance(error, asyncio.CancelledError):
        return RunEnd("cancelled", usage=usage)
    name = error.wire_name if isinstance(error, DovetailError) else type(error).__name__
    return RunEnd("error", usage=usage, error={"type": name, "message": str(error)})


@contextlib.asynccontextmanager
async def _joined(signal: Signal | None, parent: RunScope | None) -> AsyncGenerator[CancelSignal]:
    """A cancel signal of its own that follows the given one and the parent's."""
    cancel = CancelSignal()
    sources = [event for event in (signal, parent.calls.cancelled if parent else None) if event is not None]

    async def follow(event: Signal) -> None:
        if isinstance(event, asyncio.Event):
            await event.wait()
        while not event.is_set():  # noqa: ASYNC110 - an event of threads cannot be awaited
            await asyncio.sleep(_PACE)
        cancel.request("now")

    watchers = [asyncio.create_task(follow(event)) for event in sources]
    try:
        yield cancel
    finally:
        for watcher in watchers:
            watcher.cancel()
