"""The fluent agent: requests, their responses and the agent extensions."""

from typing import TYPE_CHECKING

from dovetail.lazy import lazy_exports

if TYPE_CHECKING:
    from dovetail.agent.agent import Agent
    from dovetail.agent.base import BaseAgent
    from dovetail.agent.chat import Chat
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
    "Chat",
    "ChatSessionExtension",
    "ConfigurePromptExtension",
    "FolderChatStore",
    "KeyWaiterExtension",
    "ToolExtension",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Agent": "dovetail.agent.agent",
        "AutoFuncExtension": "dovetail.agent.extensions.auto_func",
        "BaseAgent": "dovetail.agent.base",
        "Chat": "dovetail.agent.chat",
        "ChatSessionExtension": "dovetail.agent.extensions.chat_session",
        "ConfigurePromptExtension": "dovetail.agent.extensions.configure_prompt",
        "FolderChatStore": "dovetail.agent.extensions.chat_store",
        "KeyWaiterExtension": "dovetail.agent.extensions.key_waiter",
        "ToolExtension": "dovetail.agent.extensions.tool",
    },
)
