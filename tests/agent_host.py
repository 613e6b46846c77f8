"""A minimal app for agents, with scripted models."""

from collections.abc import Sequence
from typing import Any

from dovetail.agent.runtime import Runtime
from dovetail.agents.catalog import wrap_agents
from dovetail.agents.definition import AgentDefinition
from dovetail.agents.registry import AgentRegistry
from dovetail.events.call import Kind, ModelRequest
from dovetail.events.tool_context import ToolContext
from dovetail.requesters.requester import Requester
from dovetail.settings import Settings
from dovetail.testing import ScriptedRequester
from dovetail.tools.registry import ToolRegistry
from dovetail.tools.tool import Tool, ToolResult


class ScriptedRuntime(Runtime):
    """A runtime whose models all play one script."""

    def __init__(self, replies: Sequence[Any]) -> None:
        super().__init__()
        self.scripted = ScriptedRequester(replies)

    def requester(self, model: Any = None, settings: Settings | None = None) -> Requester:
        return self.scripted


class Host:
    """A minimal app for agents."""

    def __init__(self, replies: Sequence[Any], *tools: Tool) -> None:
        self.runtime = ScriptedRuntime(replies)
        self.settings = self.runtime.settings
        self._agents = AgentRegistry()
        for tool in tools:
            self.runtime.tools.register_tool(tool)

    def get_tool_registry(self) -> ToolRegistry:
        return self.runtime.tools

    def offer(self, *definitions: AgentDefinition) -> None:
        """Register agents and offer them as tools, as an app does."""
        for definition in definitions:
            self._agents.register_agent(definition)
        self.runtime.tools.publish("agents", wrap_agents(self))

    def get_agent_registry(self) -> AgentRegistry:
        return self._agents


def make_tool(name: str, *, kind: Kind = Kind.Read, result: str = "") -> Tool:
    """Return a tool whose result shows that it ran."""

    async def execute(args: dict[str, Any], context: ToolContext) -> ToolResult:
        return ToolResult(result or f"{name} ran")

    return Tool(name=name, description=name, parameters={"type": "object"}, execute=execute, kind=kind)


def call(name: str, arguments: str = "{}", call_id: str = "c1") -> dict[str, Any]:
    """Return a reply with one tool call."""
    return {"tool_calls": [{"call_id": call_id, "name": name, "arguments": arguments}]}


def results(request: ModelRequest) -> list[str]:
    """Return the results of calls that were sent to the model."""
    return [message["content"] for message in request.messages if message["role"] == "tool"]
