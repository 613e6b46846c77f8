"""A request that runs turn after turn, with tools, until the model has its answer."""

import dataclasses
from dataclasses import dataclass

from dovetail.agent.expectation import expect_output
from dovetail.agent.request import AgentRequest, run_handlers
from dovetail.agent.runtime import Runtime
from dovetail.events.context import CancelSignal
from dovetail.events.delta import FinishDelta, TextDelta
from dovetail.loop.budget import Budget, BudgetLimits
from dovetail.loop.scope import LoopOutcome, current_run
from dovetail.response.result import Result
from dovetail.tools.registry import ToolSnapshot
from dovetail.tools.scope import CallScope


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRun:
    """One request with the tools it may use; the handlers of the agent join in as in any request."""

    request: AgentRequest
    tools: ToolSnapshot
    runtime: Runtime
    scope: CallScope

    async def go(self, limits: BudgetLimits | None, cancel: CancelSignal | None) -> LoopOutcome:
        """Run to the end; an error of the model is raised, every other end is told in the outcome."""
        request = self.request
        request.settings.set("tools.max_rounds", 0)  # the loop itself calls the tools
        async for _ in run_handlers(
            request.handlers.get("request_prefixes"), request.prompt, request.settings
        ):
            pass
        asked = request.build()
        loop = self.runtime.make_loop(request.requester, self.tools, request.settings, options=asked.options)
        above = current_run()  # a tool may run an agent: what that uses, the tool's own run has used
        budget = Budget(limits, parent=above.budget if above is not None else None)
        outcome = await loop.run(
            asked.messages, emit=self.scope.emit, scope=self.scope, budget=budget, cancel=cancel
        )
        if outcome.error is not None:
            raise outcome.error
        return await self._finish(outcome)

    async def _finish(self, outcome: LoopOutcome) -> LoopOutcome:
        """Read the answer as the output asks, and let the handlers see it as they see every answer."""
        request = self.request
        entries = [TextDelta(outcome.text), FinishDelta(usage=outcome.usage, model=request.requester.model)]
        expected = expect_output(request.prompt, request.settings, with_schema=False)
        result = Result(entries, expected.shape)
        if outcome.reason == "goal":
            async for _ in run_handlers(request.handlers.get("finally"), result, request.settings):
                pass
        return outcome if result.parsed is None else dataclasses.replace(outcome, data=result.parsed)
