"""Many agents behind one tool: `sub-agent {name, inputs}` (rule C12)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dovetail.events.call import Kind
from dovetail.events.tool_context import ToolContext
from dovetail.tools.tool import Tool

DISPATCHER = "sub-agent"
BACKGROUND = "background"
BACKGROUND_SCHEMA = {
    "type": "boolean",
    "description": "True: do not wait. The agent works in the background, and you get a notice when it ends.",
    "default": False,
}
"""The argument with which a caller chooses that an agent works in the background."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Dispatcher(Tool):
    """One tool for several agents.

    A call is a call of the named agent's own tool: its inputs are checked against that tool's schema, and
    policy rules and audit records see the agent's name. `tasks` are the same agents in the background.
    """

    agents: Mapping[str, Tool]
    tasks: Mapping[str, Tool] = field(default_factory=dict[str, Tool])

    @property
    def is_read_only(self) -> bool:
        """Whether all of the agents only read."""
        return all(agent.is_read_only for agent in self.agents.values())

    def resolve(self, args: dict[str, Any]) -> tuple[Tool, dict[str, Any]]:
        """Return the named agent's tool and its inputs."""
        name = args["name"]
        agent = self.tasks.get(name) if args.get(BACKGROUND) else None
        return agent or self.agents[name], dict(args["inputs"])

    def narrow(self, is_wanted: Callable[[Tool], bool]) -> "Dispatcher | None":
        """Return a dispatcher for the wanted agents; None if there are none."""
        wanted = [tool for tool in self.agents.values() if is_wanted(tool)]
        if len(wanted) == len(self.agents):
            return self
        return make_dispatcher(wanted, self.tasks) if wanted else None


def make_dispatcher(tools: Iterable[Tool], tasks: Mapping[str, Tool] | None = None) -> Dispatcher:
    """Return the dispatcher of these agents; those in `tasks` can work in the background, too."""
    agents = {tool.name: tool for tool in tools}
    tasks = {name: tool for name, tool in (tasks or {}).items() if name in agents}
    extra = {BACKGROUND: BACKGROUND_SCHEMA} if tasks else {}

    async def dispatch(args: dict[str, Any], context: ToolContext) -> Any:
        return await agents[args["name"]].execute(args["inputs"], context)

    return Dispatcher(
        name=DISPATCHER,
        display_name="Sub-agent",
        description="Hand a task to another agent. " + " ".join(map(_describe, agents.values())),
        parameters={
            "type": "object",
            "properties": {
                "name": {"enum": list(agents), "description": "Which agent."},
                "inputs": {"type": "object", "description": "What it takes, as its inputs ask."},
                **extra,
            },
            "required": ["name", "inputs"],
        },
        execute=dispatch,
        kind=Kind.Think,
        origin="agent",
        is_output_markdown=True,
        can_update_output=True,
        resumable=True,
        time_limit=None,
        agents=agents,
        tasks=tasks,
    )


def _describe(tool: Tool) -> str:
    required = tool.parameters.get("required", ())
    names = (
        name if name in required else f"{name}, if you like" for name in tool.parameters.get("properties", {})
    )
    return f"`{tool.name}` ({'; '.join(names)}): {tool.description}"
