"""The former place of `dovetail.agents.run`; re-exports only."""

from dovetail.agents.run import AgentExecutor, AgentOutput, OnActivity, Signal

__all__ = ["AgentExecutor", "AgentOutput", "OnActivity", "Signal"]
