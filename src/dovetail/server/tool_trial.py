"""A call of a tool on trial, made by a person outside of any chat: the same pipeline, and questions to them.

It is a run without a model and without a session, so approvals and browser tools work as they do in a chat.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dovetail.app import Dovetail
from dovetail.events.call import ToolCall
from dovetail.events.model_events import ToolInputEnd
from dovetail.events.run_context import RunContext
from dovetail.events.run_events import AskKind
from dovetail.events.run_result import RunResult
from dovetail.policy.mode import choose_mode
from dovetail.runs.run import RunHandle, RunSpec, RunWork
from dovetail.tools.result import describe_outcome
from dovetail.tools.snapshot import ToolSnapshot

WAIT = 600.0
"""Seconds that a question of a trial stays open: the person is looking at it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolTrial(RunWork):
    """One call of a tool; its outcome is the result of the run."""

    app: Dovetail
    tools: ToolSnapshot
    call: ToolCall
    tab_id: str

    async def work(self, context: RunContext) -> RunResult:
        """Make the call; a refused or failed one is an outcome like any other."""

        async def ask(
            kind: AskKind, call_id: str, payload: Mapping[str, Any], time_limit: float | None, /
        ) -> Mapping[str, Any]:
            assert context.ask is not None
            return await context.ask(kind, call_id, payload, time_limit or WAIT)

        context.emit(ToolInputEnd(self.call.call_id, self.call.name, self.call.arguments))
        scope = replace(
            context,
            agent_path=(),
            tab_id=self.tab_id,
            mode=choose_mode(self.app.settings),
            bus=self.app.runtime.active_bus,
            ask=ask,
        )
        outcome = await self.app.runtime.runner.run_call(self.tools, self.call, scope)
        return RunResult(data=describe_outcome(outcome))


async def start_trial(
    app: Dovetail, tools: ToolSnapshot, call: ToolCall, tab_id: str, owner: str
) -> RunHandle:
    """Start a call as a run of its own in this process."""
    spec = RunSpec(agent=f"tool:{call.name}", generation=tools.generation, owner=owner)
    trial = ToolTrial(app=app, tools=tools, call=call, tab_id=tab_id)
    return await app.runs.start(spec, trial, here=True)
