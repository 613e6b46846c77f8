"""All agents as tools: one typed tool each, or one dispatcher if there are many."""

import copy
import glob
import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from dovetail.agents.as_tool import SubagentToolWrapper
from dovetail.agents.definition import AgentDefinition
from dovetail.agents.dispatcher import DISPATCHER, make_dispatcher
from dovetail.agents.file import is_disabled, list_agent_files, locate, peek
from dovetail.agents.foreign import OUR_NAMES
from dovetail.agents.prepare import AgentHost, choose_tools, find_tools
from dovetail.agents.task_tool import TASKS
from dovetail.assets import find_assets
from dovetail.data.shapes import is_mapping
from dovetail.data.text import did_you_mean
from dovetail.loop.completion import COMPLETE_TASK
from dovetail.settings import Settings
from dovetail.settings.sections import SubagentSettings
from dovetail.skills.injection import LOAD_SKILL
from dovetail.tools.makers.browser import open_url
from dovetail.tools.registry import ToolRegistry
from dovetail.tools.tool import Tool

logger = logging.getLogger(__name__)

MOST_TOOLS = 12
_RESERVED = (DISPATCHER, COMPLETE_TASK, TASKS, LOAD_SKILL, open_url.name)


def read_offer(settings: Settings) -> Any:
    """Return the settings that decide which agents are tools, and how."""
    return copy.deepcopy([settings.get(section) for section in ("subagents", "agents", "tools", "bus")])


def publish_agents(app: AgentHost) -> None:
    """Offer an app's agents as tools, except for an agent whose name another tool has."""
    registry = app.get_tool_registry()
    taken = {tool.name: tool.owner for tool in registry.get_all_tools() if _keeps_name(tool)}
    wrapped = wrap_agents(app)
    for tool in wrapped:
        if tool.name in taken:
            logger.error(
                "Agent %r is not offered as a tool: its name is taken by %s", tool.name, taken[tool.name]
            )
    registry.publish("agents", [tool for tool in wrapped if tool.name not in taken])


def _keeps_name(tool: Tool) -> bool:
    return tool.origin != "agent" and not tool.steps_aside


def wrap_agents(app: AgentHost) -> list[Tool]:
    """Return the agents of an app as tools; an agent that cannot be wrapped is logged and left out."""
    settings, registry = app.settings, app.get_tool_registry()
    if not settings.section(SubagentSettings).enabled:
        return []
    wrappers = [
        wrapper
        for definition in app.get_agent_registry().get_all_definitions()
        if _is_offered(definition, registry) and (wrapper := _wrap(definition, app)) is not None
    ]
    as_one = _stand_behind_one(len(wrappers), settings, registry)
    return [make_dispatcher(wrappers)] if as_one and wrappers else list[Tool](wrappers)


def _is_offered(definition: AgentDefinition, registry: ToolRegistry) -> bool:
    """Return whether the settings allow the agent as a tool; they also apply behind a dispatcher."""
    name, allowed = definition.name, registry.allowed
    is_allowed = allowed is None or not allowed.isdisjoint({name, DISPATCHER})
    return definition.is_tool and is_allowed and name not in registry.excluded


def _stand_behind_one(count: int, settings: Settings, registry: ToolRegistry) -> bool:
    shape = settings.section(SubagentSettings).shape
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


def find_tool_problems(app: AgentHost, definition: AgentDefinition, failed: Sequence[str] = ()) -> list[str]:
    """Return warnings, with file and line, about the tools that an agent names, and those it cannot give.

    Extension folders that `failed` to load are named as a reason for tools that do not exist.
    """
    reason = f" It may be in an extension folder that failed to load: {', '.join(failed)}." if failed else ""
    unknown = [f"{warning}{reason}" for warning in _find_unknown(app, definition)]
    return [*unknown, *_find_withheld(app, definition)]


def _find_unknown(app: AgentHost, definition: AgentDefinition) -> list[str]:
    """Return a warning for each tool that does not exist, with the nearest name.

    Such a tool is ignored until it exists: that of an MCP server may come later. Globs may match nothing.
    """
    agents, config = app.get_agent_registry(), definition.tool_config
    known = [tool.name for tool in app.get_tool_registry().get_all_tools()]
    known += [each.name for each in (*agents.get_all_definitions(), *agents.get_disabled())]
    unknown = [
        name
        for name in config.written
        if name not in (*known, *_RESERVED)
        and glob.escape(name) == name
        and not (name in OUR_NAMES and config.refuses(name))  # our own name of it is switched off, too
    ]
    return [f"{locate(definition.source, name)}: {_explain_tool(name, known)}" for name in unknown]


def _explain_tool(name: str, known: Sequence[str]) -> str:
    own = OUR_NAMES.get(name)
    if own in known:
        return f"Unknown tool {name!r}. It is called {own!r} here."
    return f"Unknown tool {name!r}. {did_you_mean(name, known, most=1)}".rstrip()


def _find_withheld(app: AgentHost, definition: AgentDefinition) -> list[str]:
    """Return a warning for each called agent that needs tools which this one does not have to give."""
    agents, available = app.get_agent_registry(), find_tools(app, None, definition)
    own = choose_tools(definition, available, ())[0].tools
    needed = {
        each.name: [
            name for name in each.tool_config.names or () if name in available.tools and name not in own
        ]
        for each in agents.get_all_definitions()
        if each.name in own
    }
    return [
        f"{locate(definition.source, name)}: "
        f"Agent {name!r} cannot use {', '.join(missing)} when it is called from here: "
        "an agent has no tool that its caller does not have."
        for name, missing in needed.items()
        if missing
    ]


def list_tool_problems(app: AgentHost, failed: Sequence[str] = ()) -> list[str]:
    """Return such warnings for all agents, except for those that ship with the package."""
    shipped = find_assets("agents")
    return [
        warning
        for definition in app.get_agent_registry().get_all_definitions()
        if shipped is None or not Path(definition.source).is_relative_to(shipped)
        for warning in find_tool_problems(app, definition, failed)
    ]


def list_rule_problems(app: AgentHost, reserved: Iterable[str]) -> list[str]:
    """Return warnings about policy rules for tools and agents that do not exist."""
    policy, tools = app.runtime.policy, [tool.name for tool in app.get_tool_registry().get_all_tools()]
    agents = list_callers(app)
    return [*policy.find_unknown_tools([*reserved, *tools]), *policy.find_unknown_agents(agents)]


def list_callers(app: AgentHost) -> list[str]:
    """Return the names that the path of an agent can have: of agents, and of tools that are agents."""
    registry = app.get_agent_registry()
    definitions = [*registry.get_all_definitions(), *registry.get_disabled()]
    tools = app.get_tool_registry().get_all_tools()
    return sorted({each.name for each in (*definitions, *tools)})


def reserve_names(app: AgentHost, folders: Iterable[Path]) -> dict[str, str]:
    """Return the names that tools of extension folders may not have, with their owners.

    They are the same before and after a restart: the name of the tool that loads skills is reserved even
    if there are no skills, and those of MCP tools are not, since these can be renamed.
    """
    tools = {
        tool.name: tool.owner
        for tool in app.get_tool_registry().get_all_tools()
        if not tool.origin.startswith(("extension:", "agent", "skills")) and not tool.steps_aside
    }
    built_in = {open_url.name: open_url.owner, LOAD_SKILL: "the tool that loads skills"}
    return {**tools, **built_in, **_reserve_agent_names(app, folders)}


def _reserve_agent_names(app: AgentHost, folders: Iterable[Path]) -> dict[str, str]:
    """Return the tool names of agents from code and from these folders, with their owners."""
    names = {
        DISPATCHER: "the tool that starts agents by name",
        COMPLETE_TASK: "the tool that ends agents",
        TASKS: "the tool for agents in the background",
    }
    if not app.settings.section(SubagentSettings).enabled:
        return names
    off = _list_disabled(app.settings.get("agents"))
    for folder in folders:
        names |= {name: f"agent {name!r} ({folder})" for name in list_agent_names(folder) if name not in off}
    return names | {
        definition.name: f"agent {definition.name!r} ({definition.source})"
        for definition in app.get_agent_registry().get_all_definitions()
        if definition.is_tool and definition.source == "code"
    }


def _list_disabled(overrides: Any) -> set[str]:
    if not is_mapping(overrides):
        return set()
    return {name for name, each in overrides.items() if is_mapping(each) and is_disabled(each)}


def list_agent_names(folder: Path) -> list[str]:
    """Return the names of the agents that a folder offers as tools; a broken file keeps its own name."""
    return [name for path in list_agent_files(folder) if (name := _read_name(path))]


def _read_name(path: Path) -> str | None:
    name, front = peek(path)  # the last good version of a broken file may still be in use
    return name if front.get("tool", True) is not False else None
