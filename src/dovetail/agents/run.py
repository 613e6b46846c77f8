"""Run one agent from its definition, with its own context, limits and rights, inside the run that called it.

A child has the tools that both it and its caller may use, draws on the caller's budget and is cancelled with
it. Its events flow up, tagged with its run id, and never enter the context of the caller's model.
"""

import asyncio
import contextlib
import dataclasses
import threading
import time
from collections.abc import AsyncGenerator, Sequence
from typing import Self, TypeAlias

from dovetail.agent.as_tool import refuse_circle
from dovetail.agent.run import explain_break
from dovetail.agents.definition import AgentDefinition, AgentInputs, convert_input_config_to_json_schema
from dovetail.agents.prepare import (
    AgentHost,
    WorkspaceHost,
    build_messages,
    build_preface,
    choose_model,
    find_days,
    find_limits,
    prepare_loop,
)
from dovetail.agents.setup import RunSetup, find_requester, report_changes
from dovetail.data.text import to_text
from dovetail.errors import ToolError
from dovetail.events.asks import Asker
from dovetail.events.call import ChatMessage
from dovetail.events.cancel import CancelSignal
from dovetail.events.run_context import RunContext, RunInbox, current_run
from dovetail.events.run_events import ChildEvent, Emit, Event, RunEnd, RunStart
from dovetail.events.run_result import RunResult
from dovetail.events.tool_context import ToolContext
from dovetail.ids import new_id
from dovetail.loop.budget import Budget, find_budget
from dovetail.loop.loop import TurnLoop
from dovetail.loop.replay import Replay
from dovetail.loop.resume import EarlierRun, find_child, read_end, resume_loop
from dovetail.loop.tree import share_account
from dovetail.policy.bus import MessageBus
from dovetail.policy.mode import choose_mode
from dovetail.schema.validate import compile_schema
from dovetail.tools.makers.declarative import check_arguments

OnActivity: TypeAlias = Emit
Signal: TypeAlias = asyncio.Event | threading.Event

_POLL_INTERVAL = 0.05
"""Seconds between two checks of a signal that other threads set."""


AgentOutput = RunResult
"""The former name of `RunResult` for agents."""


class AgentExecutor:
    """One run of an agent.

    >>> woods = AgentDefinition(name="woods", description="Knows woods.")
    >>> async def run() -> str:
    ...     executor = await AgentExecutor.create(woods, Dovetail())
    ...     return (await executor.run({"query": "A wood for doors?"})).text
    >>> asyncio.run(run())
    'Oak.'
    """

    def __init__(
        self,
        definition: AgentDefinition,
        app: AgentHost,
        on_activity: OnActivity | None = None,
        ask: Asker | None = None,
        bus: MessageBus | None = None,
    ) -> None:
        self.definition = definition
        self._app = app
        self._on_activity = on_activity
        self._ask = ask
        self._bus = bus
        self._app_bus: MessageBus | None = None
        self.run_id = new_id("run")
        self.call: ToolContext | None = None
        """The tool call that starts it, if any."""

    @classmethod
    async def create(
        cls,
        definition: AgentDefinition,
        app: AgentHost,
        on_activity: OnActivity | None = None,
        *,
        ask: Asker | None = None,
        bus: MessageBus | None = None,
    ) -> Self:
        """Return an executor for `definition`; `on_activity` gets every event of its runs.

        `ask` is asked for approvals, including those of its children, if it does not run inside another run;
        listeners on `bus`, or else on the bus of the app, can answer them, too. Without either, approvals
        are denied.
        """
        executor = cls(definition, app, on_activity, ask, bus)
        executor._app_bus = app.runtime.active_bus
        return executor

    async def run(self, inputs: AgentInputs, signal: Signal | None = None) -> RunResult:
        """Run the agent on `inputs`, as a child of the current run, if any; setting `signal` cancels it.

        Raises:
            ToolError: the inputs do not match the agent's schema, or the agent is already running above.
        """
        started = time.perf_counter()
        parent = current_run()
        refuse_circle(parent.agent_path if parent else (), self.definition.name)
        self._check(inputs)
        await self._app.runtime.learn_names(choose_model(self.definition, parent))
        earlier, caller = await self._find_earlier(parent), parent or self._find_caller()
        kept = RunSetup.read(earlier.setup) if earlier else None
        loop = self._prepare_loop(parent, kept)
        messages = kept.messages if kept else self._write_messages(loop, inputs, caller, earlier)
        budget = self._budget(parent, caller.owner, earlier)
        emit = self._emitter(parent)
        context = caller.for_child(self.run_id, self.definition.name, emit=emit, budget=budget)
        if self._bus is not None:
            context = dataclasses.replace(context, bus=self._bus)
        if earlier is None:
            emit(self._start(loop, parent, messages))
        elif earlier.end is not None:
            return await read_end(loop, context, earlier)
        done = earlier.done if earlier else Replay()
        try:
            async with _followed(context.cancel, signal, parent):
                notice = report_changes(kept, loop, self.run_id)
                with _attended(parent, self.run_id, context.cancel) as inbox:
                    context = dataclasses.replace(context, inbox=inbox)
                    outcome = await resume_loop(loop, messages, context, done, notice)
            text, duration = self._write_result(outcome), time.perf_counter() - started + done.spent.seconds
        except BaseException as error:
            emit(explain_break(error, budget.usage))
            raise
        failure = {"type": "error", "message": str(outcome.exception)} if outcome.exception else None
        emit(RunEnd(outcome.reason, text, outcome.usage, failure, outcome.limit, outcome.notice))
        return dataclasses.replace(outcome, text=text, duration=duration)

    def _prepare_loop(self, parent: RunContext | None, kept: RunSetup | None) -> TurnLoop:
        if kept is None:
            return prepare_loop(self._app, self.definition, parent=parent)
        definition = kept.adapt(self.definition)
        requester = find_requester(self._app.runtime, choose_model(definition, parent), kept)
        return prepare_loop(self._app, definition, requester=requester, parent=parent, equip=kept.select)

    async def _find_earlier(self, parent: RunContext | None) -> EarlierRun | None:
        """Find the run that this call had started before an interruption: it continues under its id."""
        call = self.call
        if parent is None or call is None or not call.resumable:
            return None
        earlier = await find_child(parent, call.call_id)
        if earlier is not None:
            self.run_id = earlier.run_id
        return earlier

    def _write_result(self, outcome: RunResult) -> str:
        value = outcome.text if outcome.data is None else outcome.data
        process = self.definition.process_output
        if process is None or outcome.reason != "goal":
            return to_text(value)
        try:
            return to_text(process(value))
        except Exception as error:
            name = self.definition.name
            raise ToolError(f"`process_output` of agent {name!r} failed: {error!r}") from error

    def _check(self, inputs: AgentInputs) -> None:
        name, schema = self.definition.name, convert_input_config_to_json_schema(self.definition.input_config)
        check_arguments(name, compile_schema(schema, owner=name), inputs)

    def _write_messages(
        self, loop: TurnLoop, inputs: AgentInputs, caller: RunContext, earlier: EarlierRun | None
    ) -> list[ChatMessage]:
        preface = ""
        if isinstance(self._app, WorkspaceHost):
            began = earlier.began if earlier else time.time()
            preface = build_preface(self._app, "task", began, loop.tools, caller.mode, caller.time_zone)
        return build_messages(self.definition, inputs, preface=preface)

    def _start(self, loop: TurnLoop, parent: RunContext | None, messages: Sequence[ChatMessage]) -> RunStart:
        can_resume = parent is not None and parent.journal is not None
        return RunStart(
            agent=self.definition.name,
            model=loop.requester.model,
            generation=loop.tools.generation,
            session_id=parent.session_id if parent else None,
            parent_call_id=self.call.call_id if self.call else None,
            setup=RunSetup.of(loop, self.definition, messages).to_dict() if can_resume else None,
        )

    def _find_caller(self) -> RunContext:
        """Return the context whose rights a run has that is below no other: that of its call, if any."""
        if self.call is not None:
            return self.call.scope
        return RunContext(ask=self._ask, mode=choose_mode(self._app.settings), bus=self._app_bus)

    def _budget(self, parent: RunContext | None, owner: str | None, earlier: EarlierRun | None) -> Budget:
        limits = find_limits(self.definition, self._app.settings)
        days = find_days(self._app, self.definition, owner)
        if parent is not None and parent.background is not None:
            days = share_account(days, self.run_id, limits, earlier.began if earlier else time.time())
        above = find_budget(parent)
        spent = earlier.done.spent if earlier else None
        return above.child(limits, days, spent) if above else Budget(limits, spent=spent, days=days)

    def _emitter(self, parent: RunContext | None) -> Emit:
        def emit(event: Event, /) -> None:
            if parent is not None:
                parent.emit(ChildEvent(self.run_id, event))
            if self._on_activity is not None:
                self._on_activity(event)

        return emit


def _attended(
    parent: RunContext | None, run_id: str, cancel: CancelSignal
) -> contextlib.AbstractContextManager[RunInbox | None]:
    """Let the run be reached by its id, if the run around it is stored."""
    journal = parent.journal if parent is not None else None
    return contextlib.nullcontext() if journal is None else journal.attend(run_id, cancel)


@contextlib.asynccontextmanager
async def _followed(
    cancel: CancelSignal, signal: Signal | None, parent: RunContext | None
) -> AsyncGenerator[None]:
    """Request `cancel` when the given signal or the parent's is set."""
    sources = [event for event in (signal, parent.cancelled if parent else None) if event is not None]

    async def follow(event: Signal) -> None:
        if isinstance(event, asyncio.Event):
            await event.wait()
        while not event.is_set():  # noqa: ASYNC110 - an event of threads cannot be awaited
            await asyncio.sleep(_POLL_INTERVAL)
        cancel.request("now")

    watchers = [asyncio.create_task(follow(event)) for event in sources]
    try:
        yield
    finally:
        for watcher in watchers:
            watcher.cancel()
