"""A request that runs turn after turn, with tools, until the model has its answer."""

import dataclasses
from dataclasses import dataclass

from dovetail.agent.expectation import expect_output
from dovetail.agent.request import AgentRequest, run_handlers
from dovetail.agent.runtime import Runtime
from dovetail.events.delta import FinishDelta, TextDelta
from dovetail.events.run_context import RunContext, current_run
from dovetail.events.run_result import RunResult
from dovetail.loop.budget import Budget, BudgetLimits, find_budget
from dovetail.response.result import Result
from dovetail.tools.registry import ToolSnapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRun:
    """One request with the tools it may use; the handlers of the agent join in as in any request."""

    request: AgentRequest
    tools: ToolSnapshot
    runtime: Runtime
    context: RunContext

    async def go(self, limits: BudgetLimits | None) -> RunResult:
        """Run to the end; an error of the model is raised, every other end is told in the outcome."""
        request = self.request
        request.settings.set("tools.max_rounds", 0)  # the loop itself calls the tools
        async for _ in run_handlers(
            request.handlers.get("request_prefixes"), request.prompt, request.settings
        ):
            pass
        asked = request.build()
        loop = self.runtime.make_loop(request.requester, self.tools, request.settings, options=asked.options)
        # A tool may run an agent: what that uses, the tool's own run has used.
        budget = Budget(limits, parent=find_budget(current_run()))
        outcome = await loop.run(asked.messages, dataclasses.replace(self.context, budget=budget))
        if outcome.exception is not None:
            raise outcome.exception
        return await self._finish(outcome)

    async def _finish(self, outcome: RunResult) -> RunResult:
        """Read the answer as the output asks, and let the handlers see it as they see every answer."""
        request = self.request
        entries = [TextDelta(outcome.text), FinishDelta(usage=outcome.usage, model=request.requester.model)]
        expected = expect_output(request.prompt, request.settings, with_schema=False)
        result = Result(entries, expected.format)
        if outcome.reason == "goal":
            async for _ in run_handlers(request.handlers.get("finally"), result, request.settings):
                pass
        return outcome if result.parsed is None else dataclasses.replace(outcome, data=result.parsed)
