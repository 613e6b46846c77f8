"""The agent extensions: classes mixed into `Agent` (rules A1 and A2)."""

from typing import TYPE_CHECKING

from dovetail.lazy import lazy_exports

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

__getattr__ = lazy_exports(
    __name__,
    {
        "AutoFuncExtension": "dovetail.agent.extensions.auto_func",
        "ChatSessionExtension": "dovetail.agent.extensions.chat_session",
        "ChatStore": "dovetail.agent.extensions.chat_store",
        "ConfigurePromptExtension": "dovetail.agent.extensions.configure_prompt",
        "FolderChatStore": "dovetail.agent.extensions.chat_store",
        "KeyWaiterExtension": "dovetail.agent.extensions.key_waiter",
        "ToolExtension": "dovetail.agent.extensions.tool",
    },
)
