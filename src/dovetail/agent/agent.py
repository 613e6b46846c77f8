"""`Agent`: the agent that most programs use."""

from dovetail.agent.extensions.auto_func import AutoFuncExtension
from dovetail.agent.extensions.configure_prompt import ConfigurePromptExtension
from dovetail.agent.extensions.key_waiter import KeyWaiterExtension
from dovetail.agent.extensions.tool import ToolExtension


class Agent(ToolExtension, KeyWaiterExtension, AutoFuncExtension, ConfigurePromptExtension):
    """An agent: a prompt, a model and tools, asked in a fluent way.

    agent = Agent(model="openai:gpt-4.1-mini")
    agent.input("Name a colour").output({"name": (str, "in English")}).start()
    """
