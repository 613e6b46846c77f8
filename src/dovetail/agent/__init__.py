"""The fluent agent, its agent extensions, one request and the loop of turns."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dovetail.agent.agent import Agent
    from dovetail.agent.base import BaseAgent
    from dovetail.agent.extensions.auto_func import AutoFuncExtension
    from dovetail.agent.extensions.chat_session import ChatSessionExtension
    from dovetail.agent.extensions.chat_store import FolderChatStore
    from dovetail.agent.extensions.configure_prompt import ConfigurePromptExtension
    from dovetail.agent.extensions.key_waiter import KeyWaiterExtension
    from dovetail.agent.extensions.tool import ToolExtension

__all__ = [
    "Agent",
    "AutoFuncExtension",
    "BaseAgent",
    "ChatSessionExtension",
    "ConfigurePromptExtension",
    "FolderChatStore",
    "KeyWaiterExtension",
    "ToolExtension",
]

_HOMES = {"Agent": "dovetail.agent.agent", "BaseAgent": "dovetail.agent.base"}


def __getattr__(name: str) -> Any:
    """Load a name at its first use: the loop needs no fluent agent, and an agent not every extension."""
    if name not in __all__:
        raise AttributeError(
            f"module 'dovetail.agent' has no attribute {name!r}; it exports: {', '.join(__all__)}"
        )
    return getattr(import_module(_HOMES.get(name, "dovetail.agent.extensions")), name)
