"""The agent extensions of document 000: classes mixed into `Agent`."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dovetail.agent.extensions.auto_func import AutoFuncExtension
    from dovetail.agent.extensions.chat_session import ChatSessionExtension
    from dovetail.agent.extensions.chat_store import ChatStore, FolderChatStore
    from dovetail.agent.extensions.configure_prompt import ConfigurePromptExtension
    from dovetail.agent.extensions.key_waiter import KeyWaiterExtension
    from dovetail.agent.extensions.tool import ToolExtension

__all__ = [
    "AutoFuncExtension",
    "ChatSessionExtension",
    "ChatStore",
    "ConfigurePromptExtension",
    "FolderChatStore",
    "KeyWaiterExtension",
    "ToolExtension",
]

_HOMES = {
    "AutoFuncExtension": "dovetail.agent.extensions.auto_func",
    "ChatSessionExtension": "dovetail.agent.extensions.chat_session",
    "ChatStore": "dovetail.agent.extensions.chat_store",
    "ConfigurePromptExtension": "dovetail.agent.extensions.configure_prompt",
    "FolderChatStore": "dovetail.agent.extensions.chat_store",
    "KeyWaiterExtension": "dovetail.agent.extensions.key_waiter",
    "ToolExtension": "dovetail.agent.extensions.tool",
}


def __getattr__(name: str) -> Any:
    """Load an agent extension at its first use, so that those which nobody uses cost nothing."""
    if name not in _HOMES:
        raise AttributeError(
            f"module {__name__!r} has no attribute {name!r}; it exports: {', '.join(__all__)}"
        )
    return getattr(import_module(_HOMES[name]), name)
