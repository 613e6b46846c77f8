"""`Agent`: the agent that most programs use."""

from collections.abc import Coroutine
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from dovetail.agent.extensions.auto_func import AutoFuncExtension
from dovetail.agent.extensions.configure_prompt import ConfigurePromptExtension
from dovetail.agent.extensions.key_waiter import KeyWaiterExtension
from dovetail.agent.extensions.tool import ToolExtension
from dovetail.concurrency import run_sync
from dovetail.lazy import lazy

if TYPE_CHECKING:
    from dovetail.agent.run import RunOptions
    from dovetail.events.run_result import RunResult

_run = lazy("dovetail.agent.run")


class Agent(ToolExtension, KeyWaiterExtension, AutoFuncExtension, ConfigurePromptExtension):
    """An agent: a prompt, a model and tools, with a fluent interface.

    agent = Agent(model="openai:gpt-4.1-mini")
    agent.input("Name a colour").output({"name": (str, "in English")}).start()
    """

    def async_run(
        self, task: Any = None, **options: "Unpack[RunOptions]"
    ) -> "Coroutine[Any, Any, RunResult]":
        """Work on a task turn after turn, with all the agent's tools, until it is done or a limit is reached.

        The result has the `text`, the `data` if there is an output, the `reason` and the `usage`.
        """
        if task is not None:
            self.input(task)
        # A run has its own guard of the limits.
        request, tools = replace(self._take_request(), requester=self.requester), self.tools
        return _run.AgentRun(agent=self.name, request=request, tools=tools, runtime=self.runtime).go(options)

    def run(self, task: Any = None, **options: "Unpack[RunOptions]") -> "RunResult":
        """Work on a task turn after turn; return the result with its `text`."""
        return run_sync(self.async_run(task, **options))
