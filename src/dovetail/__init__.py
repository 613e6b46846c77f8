"""An agent runtime for Python: one Tool, one pipeline, answers that stream in as typed fields."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dovetail.version import __version__

if TYPE_CHECKING:
    from dovetail.agent.agent import Agent
    from dovetail.agent.base import BaseAgent
    from dovetail.messages.kind import Kind
    from dovetail.prompt.prompt import Prompt
    from dovetail.tools.function import tool
    from dovetail.tools.tool import Tool, ToolResult

__all__ = [
    "Agent",
    "BaseAgent",
    "Kind",
    "Prompt",
    "Tool",
    "ToolResult",
    "__version__",
    "tool",
]

_HOMES = {
    "Agent": "dovetail.agent.agent",
    "BaseAgent": "dovetail.agent.base",
    "Kind": "dovetail.messages.kind",
    "Prompt": "dovetail.prompt.prompt",
    "Tool": "dovetail.tools.tool",
    "ToolResult": "dovetail.tools.tool",
    "tool": "dovetail.tools.function",
}


def __getattr__(name: str) -> Any:
    """Load a public name at its first use, so that `import dovetail` stays fast and starts nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'dovetail' has no attribute {name!r}; it exports: {', '.join(__all__)}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
