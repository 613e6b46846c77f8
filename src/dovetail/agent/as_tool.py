"""An agent as a tool of another agent: `Agent(tools=[researcher])`.

What an agent's run becomes for its caller is the same for agents in code and for agents as data.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dovetail.agent.run import AgentRun
from dovetail.data.text import cut, to_text
from dovetail.errors import ConfigError, ToolError
from dovetail.events.call import Kind
from dovetail.events.run_events import EndReason
from dovetail.events.run_result import RunResult
from dovetail.events.tool_context import ToolContext
from dovetail.tools.result import make_failure
from dovetail.tools.tool import Tool, ToolResult, find_free_name, is_callable_name

if TYPE_CHECKING:
    from dovetail.tools.snapshot import ToolSnapshot

_LONGEST_DESCRIPTION = 500
_LIMITS: dict[EndReason, str] = {
    "max-turns": "turns",
    "timeout": "time",
    "max-tokens": "tokens",
    "max-cost": "cost",
    "max-calls": "requests to models",
}
_PARAMETERS = {
    "type": "object",
    "properties": {"task": {"type": "string", "description": "The task, with all that is needed to do it."}},
    "required": ["task"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AgentTool(Tool):
    """A tool whose calls are runs of an agent."""

    list_tools: "Callable[[], ToolSnapshot]"

    @property
    def is_read_only(self) -> bool:
        """Whether all tools of the agent only read; those of agents below it are not looked at."""
        return all(not isinstance(tool, AgentTool) and tool.is_read_only for tool in self.list_tools())


def make_agent_tool(
    name: str,
    description: str,
    *,
    make_run: Callable[[str, ToolContext], AgentRun[Any]],
    list_tools: "Callable[[], ToolSnapshot]",
) -> AgentTool:
    """Return a tool that runs an agent on a task; `make_run` prepares one run."""
    if not is_callable_name(name):
        raise ConfigError(
            f"Invalid tool name {name!r} of an agent: it must be letters (a-z), digits, _ or -.",
            hint=f"Write agent.as_tool(name={find_free_name(name, ())!r}), or give the agent that name.",
        )

    async def execute(args: dict[str, Any], context: ToolContext) -> ToolResult:
        refuse_circle(context.scope.agent_path, name)
        run = make_run(args["task"], context)
        output = await run.end({})
        if run.typed is not None and output.exception is None:
            data = run.typed.dump(output.data)
            output = dataclasses.replace(output, text=to_text(data), data=data)
        return make_agent_result(name, output)

    return AgentTool(
        name=name,
        description=description,
        parameters=_PARAMETERS,
        execute=execute,
        kind=Kind.Think,
        is_output_markdown=True,
        time_limit=None,  # the limits of its run hold
        origin="agent",
        list_tools=list_tools,
    )


def describe_agent(name: str, system: Any) -> str:
    """Return the description of an agent as a tool: what its system prompt says.

    Raises:
        ConfigError: it says nothing.
    """
    if not system:
        raise ConfigError(
            f"The agent {name!r} has no description for the model that may call it.",
            hint="Give it a system prompt, or write agent.as_tool(description='…').",
        )
    return (
        f"Hand a task to the agent {name!r}. Its instructions: {cut(to_text(system), _LONGEST_DESCRIPTION)}"
    )


def refuse_circle(path: tuple[str, ...], name: str) -> None:
    """Reject the call of an agent that is at work already, above its caller.

    Raises:
        ToolError: it is.
    """
    if name in path:
        way = " → ".join((*path, name))
        raise ToolError(f"Agents must not call each other in a circle: {way}.", type="agent_circle")


def make_agent_result(name: str, output: RunResult, *, shows_data: bool = True) -> ToolResult:
    """Return the result for an agent's caller; a run that ended without reaching its goal has failed.

    `data` is the submitted result, unless the text that the caller reads differs from it (`shows_data`).
    """
    if output.reason != "goal":
        said = [str(output.exception or output.text).strip(), output.notice or ""]
        detail = " ".join(dict.fromkeys(filter(None, said))) or "It submitted no result."
        turns = f"{output.turns} turn{'' if output.turns == 1 else 's'}"
        text = f"Agent {name!r} ended by {output.reason} after {turns}. {detail}"
        return make_failure(text, f"agent_{output.reason.replace('-', '_')}", output.data)
    if output.limit not in _LIMITS:
        return ToolResult(output.text, return_display=output.text, data=output.data if shows_data else None)
    text = (
        f"{output.text}\n\n(The agent reached the limit of {_LIMITS[output.limit]} before it had finished; "
        f"this is its best result so far and may be incomplete. {' '.join((output.notice or '').split())})"
    )
    return ToolResult(text, return_display=output.text)
