"""The agent extensions of document 000: classes mixed into `Agent`."""

from dovetail.agent.extensions.auto_func import AutoFuncExtension
from dovetail.agent.extensions.configure_prompt import ConfigurePromptExtension
from dovetail.agent.extensions.key_waiter import KeyWaiterExtension
from dovetail.agent.extensions.tool import ToolExtension

__all__ = ["AutoFuncExtension", "ConfigurePromptExtension", "KeyWaiterExtension", "ToolExtension"]
