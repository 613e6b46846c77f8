"""All agents as tools: one typed tool each, or one dispatcher when there are many."""

import copy
import logging
from typing import Any

from dovetail.errors import ConfigError
from dovetail.settings import Settings
from dovetail.subagents.definition import AgentDefinition
from dovetail.subagents.dispatcher import DISPATCHER, make_dispatcher
from dovetail.subagents.host import AgentHost
from dovetail.subagents.wrapper import SubagentToolWrapper
from dovetail.tools.registry import ToolRegistry
from dovetail.tools.tool import Tool

logger = logging.getLogger(__name__)

MOST_TOOLS = 12


def read_offer(settings: Settings) -> Any:
    """The settings that decide which agents are tools, and how."""
    return copy.deepcopy([settings.get(section) for section in ("subagents", "agents", "tools", "bus")])


def publish_agents(app: AgentHost) -> None:
    """Offer an app's agents as tools; one whose name another tool has is left out, the others live on."""
    registry = app.get_tool_registry()
    taken = {tool.name: tool.owner for tool in registry.get_all_tools() if _keeps_name(tool)}
    wrapped = wrap_agents(app)
    for tool in wrapped:
        if tool.name in taken:
            logger.error("agent %r is not offered as a tool: %s has its name", tool.name, taken[tool.name])
    registry.publish("agents", [tool for tool in wrapped if tool.name not in taken])


def _keeps_name(tool: Tool) -> bool:
    return tool.origin != "agent" and not tool.steps_aside


def wrap_agents(app: AgentHost) -> list[Tool]:
    """The agents of an app as tools; an agent that cannot be wrapped is reported and left out."""
    settings, registry = app.settings, app.get_tool_registry()
    if not settings.get("subagents.enabled", True):
        return []
    wrappers = [
        wrapper
        for definition in app.get_agent_registry().get_all_definitions()
        if _is_offered(definition, registry) and (wrapper := _wrap(definition, app)) is not None
    ]
    as_one = _stand_behind_one(len(wrappers), settings, registry)
    return [make_dispatcher(wrappers)] if as_one and wrappers else list[Tool](wrappers)


def _is_offered(definition: AgentDefinition, registry: ToolRegistry) -> bool:
    """Whether the lists of the settings let the agent be a tool; behind a dispatcher they hold as well."""
    name, allowed = definition.name, registry.allowed
    is_allowed = allowed is None or not allowed.isdisjoint({name, DISPATCHER})
    return definition.is_tool and is_allowed and name not in registry.excluded


def _stand_behind_one(count: int, settings: Settings, registry: ToolRegistry) -> bool:
    shape = settings.get("subagents.shape", "auto")
    if shape not in ("auto", "tools", "dispatcher"):
        raise ConfigError(f"subagents.shape is {shape!r}; it must be auto, tools or dispatcher")
    allowed = registry.allowed
    if allowed is not None and DISPATCHER not in allowed:
        return False  # the dispatcher would be hidden, and all agents with it
    return shape == "dispatcher" or (shape == "auto" and count > MOST_TOOLS)


def _wrap(definition: AgentDefinition, app: AgentHost) -> SubagentToolWrapper | None:
    try:
        wrapper = SubagentToolWrapper(definition, app, app.runtime.active_bus)
        _ = wrapper.checker
    except Exception as error:
        logger.error(
            "Failed to wrap agent %r as a tool: %s (from %s)", definition.name, error, definition.source
        )
        return None
    return wrapper
