"""The settings of single agents, which change what their files say."""

from dovetail.settings.section import NOTHING, Section
from dovetail.settings.value import Count, Money, Seconds, Table, ToolNames


class AgentSettings(Section):
    """Changes to one agent, without touching its file."""

    enabled: bool = True
    """Whether the agent is in use."""

    model: str | None = None
    """The agent's model."""

    options: Table = NOTHING
    """Sent with every request of the agent."""

    tools: ToolNames | None = None
    """The tools that it may use, as names or globs."""

    max_turns: Count | None = 30
    """Turns of one run."""

    max_seconds: Seconds | None = 600.0
    """Seconds of one run."""

    max_tokens: Count | None = None
    """Tokens of one run."""

    max_cost: Money | None = None
    """Money of one run."""

    max_calls: Count | None = None
    """Requests to models of one run."""

    max_cost_per_day: Money | None = None
    """Money of all its runs in one day (UTC)."""

    max_calls_per_day: Count | None = None
    """Requests to models of all its runs in one day (UTC)."""

    max_depth: Count | None = None
    """Levels of agents below it; by default `subagents.max_depth`."""

    max_children: Count | None = None
    """Agents that it may call; by default `subagents.max_children`."""

    max_subagents: Count | None = None
    """Agents below it at all depths; by default `subagents.max_subagents`."""

    queue: str = "default"
    """The queue in which its runs wait for a worker; engines `dbos` and `temporal` only."""

    priority: int = 0
    """Runs with a higher priority start first; engines `dbos` and `temporal` only."""
