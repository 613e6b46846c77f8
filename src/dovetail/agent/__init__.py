"""The fluent agent, its agent extensions, one request and the loop of turns."""

from dovetail.agent.agent import Agent
from dovetail.agent.base import BaseAgent

__all__ = ["Agent", "BaseAgent"]
