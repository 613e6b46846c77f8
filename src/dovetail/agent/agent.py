"""`Agent`: the agent that most programs use."""

from dovetail.agent.base import BaseAgent


class Agent(BaseAgent):
    """An agent: a prompt, a model and tools, asked in a fluent way.

    agent = Agent(model="openai:gpt-4.1-mini")
    agent.input("Name a colour").output({"name": (str, "in English")}).start()
    """
