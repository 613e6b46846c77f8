"""The rounds of the judging way: the model plans, a tool runs, and what it found goes into the request."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dovetail.agent.extensions.tool_plan import Choices, NoPlan, Plan, end_plan, open_plan, read_plan
from dovetail.agent.request import SPENT
from dovetail.agent.runtime import EVENTS, Runtime, write_log
from dovetail.errors import ConfigError
from dovetail.events.call import ToolCall
from dovetail.events.delta import Usage
from dovetail.ids import new_id
from dovetail.lazy import lazy
from dovetail.loop.conversation import fits
from dovetail.prompt.prompt import Prompt
from dovetail.requesters.requester import Requester
from dovetail.schema.json_data import to_json_data
from dovetail.settings import Settings

if TYPE_CHECKING:
    from dovetail.tools.registry import ToolSnapshot
    from dovetail.tools.tool import CallOutcome

_registry = lazy("dovetail.tools.registry")
_scope = lazy("dovetail.tools.scope")

NOTICE = (
    "NOTICE: Where the answer builds on {action_results}, quote the key information from there, or name its "
    "source: a URL where there is one."
)
_USUAL_WINDOW = 128_000  # tokens, for models that do not say how many they can read
_ANY_SIZE = 2**63


@dataclass(slots=True)
class Rounds:
    """The rounds of one request of an agent, which rules of the policy know by its name."""

    agent: str
    runtime: Runtime
    requester: Requester
    prompt: Prompt
    settings: Settings
    tools: "ToolSnapshot"
    so_far: dict[str, Any] = field(default_factory=dict[str, Any])
    """The results as the model got them, by purpose."""

    async def take(self) -> bool:
        """Ask whether a tool is needed and run it; false when none is."""
        listed = [self.runtime.manager.describe(tool) for tool in self.tools]
        choices = Choices.make(self.requester, self.tools, listed)
        response = open_plan(self.prompt, self.settings, self.requester, choices, self.so_far)
        try:
            plan = await read_plan(response, choices)
            if isinstance(plan, NoPlan):
                if plan.problem:
                    self.settings.append(EVENTS, ("warning", f"no tool is used: {plan.problem}"))
                return False
            await self._follow(plan)
            self.settings.set(SPENT, self.settings.get(SPENT, Usage()) + await end_plan(response))
            return True
        finally:
            response.cancel()

    async def _follow(self, plan: Plan) -> None:
        call = ToolCall(call_id=new_id("call"), name=plan.tool_name, arguments=plan.tool_kwargs)
        scope = _scope.CallScope(
            agent_path=(self.agent,), bus=self.runtime.active_bus, largest_result=_ANY_SIZE
        )
        outcome = await self.runtime.runner.run_call(self.tools, call, scope)
        log = write_log(outcome, plan.purpose)
        shown = await self._fit(log["result"], outcome)
        self.so_far[plan.purpose] = shown
        self.prompt.set("action_results", {plan.purpose: shown})
        self.prompt.set("extra_instruction", NOTICE)
        self.settings.append(EVENTS, ("tool", log))

    async def _fit(self, value: Any, outcome: "CallOutcome") -> Any:
        """What the model gets: all, if it can read that much, otherwise the beginning and how to read on."""
        window = self.runtime.window(self.requester, self.settings) or _USUAL_WINDOW
        try:
            is_small = fits([to_json_data({"prompt": self.prompt.get(), "result": value})], window)
        except (ConfigError, ValueError):  # it holds itself, or a number too long to be printed
            return outcome.result.llm_content
        if is_small:
            return value
        runner = self.runtime.runner
        kept = await runner.keep(outcome.result, _scope.CallScope())
        self.tools = _registry.ToolSnapshot.of(dict.fromkeys([*self.tools, runner.reader]))
        return kept.llm_content
