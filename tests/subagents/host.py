"""An app as the executor sees it, with models that play a script."""

from collections.abc import Sequence
from typing import Any

from dovetail.agent.runtime import Runtime
from dovetail.requesters.requester import Requester
from dovetail.settings import Settings
from dovetail.subagents.registry import AgentRegistry
from dovetail.testing import ScriptedRequester
from dovetail.tools.registry import ToolRegistry
from dovetail.tools.tool import Tool


class ScriptedRuntime(Runtime):
    """A runtime whose every model plays one script."""

    def __init__(self, replies: Sequence[Any]) -> None:
        super().__init__()
        self.scripted = ScriptedRequester(replies)

    def requester(self, model: Any = None, settings: Settings | None = None) -> Requester:
        return self.scripted


class Host:
    """An app as the executor sees it."""

    def __init__(self, replies: Sequence[Any], *tools: Tool) -> None:
        self.runtime = ScriptedRuntime(replies)
        self.settings = self.runtime.settings
        self._agents = AgentRegistry()
        for tool in tools:
            self.runtime.tools.register_tool(tool)

    def get_tool_registry(self) -> ToolRegistry:
        return self.runtime.tools

    def get_agent_registry(self) -> AgentRegistry:
        return self._agents


def call(name: str, arguments: str = "{}", call_id: str = "c1") -> dict[str, Any]:
    """A reply that makes one call."""
    return {"tool_calls": [{"call_id": call_id, "name": name, "arguments": arguments}]}
