"""`Agent`: the agent that most programs use."""

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from dovetail.agent.extensions.auto_func import AutoFuncExtension
from dovetail.agent.extensions.configure_prompt import ConfigurePromptExtension
from dovetail.agent.extensions.key_waiter import KeyWaiterExtension
from dovetail.agent.extensions.tool import ToolExtension
from dovetail.concurrency import run_sync
from dovetail.events.cancel import CancelSignal
from dovetail.events.run_context import RunContext, ignore_event
from dovetail.ids import new_id
from dovetail.lazy import lazy

if TYPE_CHECKING:
    from dovetail.events.asks import Asker
    from dovetail.events.run_events import Emit
    from dovetail.events.run_result import RunResult
    from dovetail.loop.budget import BudgetLimits

_mode = lazy("dovetail.policy.mode")
_run = lazy("dovetail.agent.run")


class RunOptions(TypedDict, total=False):
    """How a run goes: `on_event` gets every event while it happens, `ask` is asked for approvals, which are
    refused without it, and `cancel` stops the run."""

    limits: "BudgetLimits"
    on_event: "Emit"
    ask: "Asker"
    cancel: "CancelSignal"


class Agent(ToolExtension, KeyWaiterExtension, AutoFuncExtension, ConfigurePromptExtension):
    """An agent: a prompt, a model and tools, asked in a fluent way.

    agent = Agent(model="openai:gpt-4.1-mini")
    agent.input("Name a colour").output({"name": (str, "in English")}).start()
    """

    def async_run(self, task: Any = None, **options: Unpack[RunOptions]) -> "Coroutine[Any, Any, RunResult]":
        """Work on a task turn after turn, with all the agent's tools, until it is done or a limit is reached.

        The outcome has the `text`, the `data` if there is an output, the `reason` and the `usage`.
        """
        if task is not None:
            self.input(task)
        request = self._take_request()
        run = _run.AgentRun(
            request=request,
            tools=self.tools,
            runtime=self.runtime,
            context=RunContext(
                run_path=(new_id("run"),),
                agent_path=(self.name,),
                ask=options.get("ask"),
                bus=self.runtime.active_bus,
                mode=_mode.choose_mode(request.settings),
                cancel=options.get("cancel") or CancelSignal(),
                emit=options.get("on_event", ignore_event),
            ),
        )
        return run.go(options.get("limits"))

    def run(self, task: Any = None, **options: Unpack[RunOptions]) -> "RunResult":
        """Work on a task turn after turn; gives the outcome with its `text`."""
        return run_sync(self.async_run(task, **options))
