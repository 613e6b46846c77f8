"""`agent.run`: one request that runs turn after turn, with tools, until the model is done."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from dovetail.agent.expectation import expect_output
from dovetail.agent.request import AgentRequest, run_handlers
from dovetail.agent.runtime import Runtime
from dovetail.events.asks import Asker
from dovetail.events.cancel import CancelSignal
from dovetail.events.delta import FinishDelta, TextDelta
from dovetail.events.run_context import RunContext, current_run, ignore_event
from dovetail.events.run_events import Emit
from dovetail.events.run_result import RunResult
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


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRun:
    """One request with its tools; the handlers of the agent take part as in any request."""

    agent: str
    request: AgentRequest
    tools: ToolSnapshot
    runtime: Runtime

    async def go(self, options: RunOptions) -> RunResult:
        """Run to the end; an error of the model is raised, every other end is in the result."""
        request = self.request
        request.settings.set("tools.max_rounds", 0)  # the loop itself calls the tools
        async for _ in run_handlers(
            request.handlers.get("request_prefixes"), request.prompt, request.settings
        ):
            pass
        asked = request.build()
        loop = self.runtime.make_loop(request.requester, self.tools, request.settings, options=asked.options)
        outcome = await loop.run(asked.messages, self._make_context(options))
        if outcome.exception is not None:
            raise outcome.exception
        return await self._finish(outcome)

    def _make_context(self, options: RunOptions) -> RunContext:
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

    def _make_budget(self, options: RunOptions) -> Budget:
        settings = self.request.settings
        limits = BudgetLimits.read(options.get("limits"), settings.section(SubagentSettings))
        return Budget(
            limits.within(settings.section(LimitSettings)),
            parent=find_budget(current_run()),
            days=open_days(self.runtime.spend, settings, self.agent),
        )

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
