"""Build, run and serve AI agents: typed answers that stream, approvals, and runs that survive a crash."""

from typing import TYPE_CHECKING

from dovetail.lazy import lazy_exports
from dovetail.version import __version__

if TYPE_CHECKING:
    from dovetail.agent.agent import Agent
    from dovetail.agent.base import BaseAgent
    from dovetail.agents.definition import AgentDefinition, InputConfig
    from dovetail.app import Dovetail, create_agent, set_settings
    from dovetail.events.call import Kind
    from dovetail.prompt.prompt import Prompt
    from dovetail.tools.makers.function import tool
    from dovetail.tools.tool import Tool, ToolResult

__all__ = [
    "Agent",
    "AgentDefinition",
    "BaseAgent",
    "Dovetail",
    "InputConfig",
    "Kind",
    "Prompt",
    "Tool",
    "ToolResult",
    "__version__",
    "create_agent",
    "set_settings",
    "tool",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Agent": "dovetail.agent.agent",
        "AgentDefinition": "dovetail.agents.definition",
        "BaseAgent": "dovetail.agent.base",
        "Dovetail": "dovetail.app",
        "InputConfig": "dovetail.agents.definition",
        "Kind": "dovetail.events.call",
        "Prompt": "dovetail.prompt.prompt",
        "Tool": "dovetail.tools.tool",
        "ToolResult": "dovetail.tools.tool",
        "create_agent": "dovetail.app",
        "set_settings": "dovetail.app",
        "tool": "dovetail.tools.makers.function",
    },
)


def __dir__() -> list[str]:
    return sorted(__all__)
