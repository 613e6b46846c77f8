"""All agents as tools: one typed tool each, or one dispatcher when there are many."""

import logging
from collections.abc import Sequence
from typing import Any

from dovetail.errors import ConfigError
from dovetail.messages.kind import Kind
from dovetail.subagents.definition import AgentDefinition
from dovetail.subagents.host import AgentHost
from dovetail.subagents.wrapper import SubagentToolWrapper
from dovetail.tools.tool import Tool, ToolContext

logger = logging.getLogger(__name__)

DISPATCHER = "sub-agent"
MOST_TOOLS = 12


def wrap_agents(app: AgentHost) -> list[Tool]:
    """The agents of an app as tools; an agent that cannot be wrapped is reported and left out."""
    settings = app.settings
    if not settings.get("subagents.enabled", True):
        return []
    wrappers = [
        wrapper
        for definition in app.get_agent_registry().get_all_definitions()
        if definition.is_tool and (wrapper := _wrap(definition, app)) is not None
    ]
    shape = settings.get("subagents.shape", "auto")
    if shape not in ("auto", "tools", "dispatcher"):
        raise ConfigError(f"subagents.shape is {shape!r}; it must be auto, tools or dispatcher")
    as_one = shape == "dispatcher" or (shape == "auto" and len(wrappers) > MOST_TOOLS)
    return [make_dispatcher(wrappers)] if as_one and wrappers else list[Tool](wrappers)


def make_dispatcher(wrappers: Sequence[SubagentToolWrapper]) -> Tool:
    """The tool `sub-agent {name, inputs}`: the inputs are checked against the named agent's own schema."""
    by_name = {wrapper.name: wrapper for wrapper in wrappers}

    async def dispatch(args: dict[str, Any], context: ToolContext) -> Any:
        wrapper = by_name[args["name"]]
        inputs: dict[str, Any] = args["inputs"]
        wrapper.build(inputs)
        return await wrapper.execute(inputs, context)

    return Tool(
        name=DISPATCHER,
        display_name="Sub-agent",
        description="Hand a task to another agent. " + " ".join(map(_describe, wrappers)),
        parameters={
            "type": "object",
            "properties": {
                "name": {"enum": list(by_name), "description": "Which agent."},
                "inputs": {"type": "object", "description": "What it takes, as its inputs ask."},
            },
            "required": ["name", "inputs"],
        },
        execute=dispatch,
        kind=Kind.Think,
        origin="agent",
        is_output_markdown=True,
        can_update_output=True,
        time_limit=None,
    )


def _wrap(definition: AgentDefinition, app: AgentHost) -> SubagentToolWrapper | None:
    bus = app.runtime.bus if app.settings.get("bus.enabled", True) else None
    try:
        wrapper = SubagentToolWrapper(definition, app, bus)
        _ = wrapper.checker
    except Exception as error:
        logger.error("agent %r (%s) cannot be a tool: %s", definition.name, definition.source, error)
        return None
    return wrapper


def _describe(wrapper: SubagentToolWrapper) -> str:
    names = ", ".join(wrapper.parameters.get("properties", {}))
    return f"`{wrapper.name}` ({names}): {wrapper.description}"
