"""Prepare an agent for a run: equip it with tools, build its loop, and write its first messages.

This is the one place that does so, for chats as for sub-agents.
"""

import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence, Set
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, Unpack, runtime_checkable

from dovetail.agent.runtime import Runtime
from dovetail.agents.definition import (
    INHERIT,
    TREE_LIMITS,
    AgentDefinition,
    ToolConfig,
    check_limit,
    fill_defaults,
)
from dovetail.agents.dispatcher import Dispatcher
from dovetail.agents.registry import AgentRegistry
from dovetail.data.circumstances import describe_place, describe_start
from dovetail.data.cron import find_zone
from dovetail.data.template import fill_template
from dovetail.data.text import to_text
from dovetail.errors import DovetailError
from dovetail.events.call import ChatMessage, ModelRequest
from dovetail.events.run_context import RunContext
from dovetail.events.spend import SpendLimits
from dovetail.loop.budget import TREE, BudgetLimits
from dovetail.loop.completion import COMPLETE_TASK, make_completion_tool
from dovetail.loop.loop import LoopOptions, TurnLoop
from dovetail.loop.spend import Days, open_days
from dovetail.policy.rule import Mode
from dovetail.requesters.requester import Requester
from dovetail.settings import Settings
from dovetail.settings.limits import LimitSettings
from dovetail.settings.sections import SubagentSettings
from dovetail.skills.injection import LOAD_SKILL, summarize_skills
from dovetail.skills.library import SkillLibrary
from dovetail.tools.registry import ToolRegistry
from dovetail.tools.snapshot import ToolSnapshot
from dovetail.tools.tool import Tool

logger = logging.getLogger(__name__)

_START = "Begin."
_BUDGET_NAMES = dict(zip(TREE_LIMITS, TREE, strict=True))
_PLAN = (
    "You are in plan mode: tools that change anything are refused. Look, think, and say what you would do."
)


Equip: TypeAlias = Callable[[ToolSnapshot], ToolSnapshot]
"""Add tools to those of an agent, or remove some."""


class AgentHost(Protocol):
    """An app as far as agents need it: settings, models and the two registries."""

    @property
    def settings(self) -> Settings: ...

    @property
    def runtime(self) -> Runtime: ...

    def get_tool_registry(self) -> ToolRegistry: ...

    def get_agent_registry(self) -> AgentRegistry: ...


@runtime_checkable
class WorkspaceHost(Protocol):
    """An app with a workspace, a project in it, and skills."""

    @property
    def workspace(self) -> Path: ...

    @property
    def project(self) -> Path: ...

    @property
    def skills(self) -> SkillLibrary: ...


def prepare_loop(
    host: AgentHost,
    definition: AgentDefinition,
    *,
    requester: Requester | None = None,
    parent: RunContext | None = None,
    has_tab: bool = True,
    equip: Equip | None = None,
    **given: Unpack[LoopOptions],
) -> TurnLoop:
    """Equip an agent and build its loop.

    It chooses from the tools of its `parent`, the run that starts it, if any; otherwise from all that are
    registered. Without a `requester` it is the one of the definition's model. Browser tools need a tab.
    `equip` changes the tools at the end, within `tools.allowed` and `tools.excluded`.
    """
    model = definition.model_config
    requester = requester or host.runtime.requester(choose_model(definition, parent))
    tools, completion = equip_agent(host, definition, parent, has_tab=has_tab, equip=equip)
    given["completion"] = completion
    given["options"] = {**model.options, **given.get("options", {})}
    return host.runtime.make_loop(requester, leave_out_rare(tools, definition, requester), **given)


def choose_model(definition: AgentDefinition, caller: RunContext | None) -> Any:
    """Return the model of an agent by name, or that of its caller; None is the model of the settings."""
    model = definition.model_config.model
    if model != INHERIT:
        return model
    return caller.model if caller is not None else None


def leave_out_rare(tools: ToolSnapshot, definition: AgentDefinition, requester: Requester) -> ToolSnapshot:
    """Return the tools without those that a small model seldom calls rightly, unless the agent names any."""
    rare: Set[str] = getattr(requester, "rare_tools", frozenset[str]())
    if definition.tool_config.names is not None or not rare:
        return tools
    return tools.select(name for name in tools.tools if name not in rare)


def equip_agent(
    host: AgentHost,
    definition: AgentDefinition,
    parent: RunContext | None = None,
    *,
    has_tab: bool = True,
    equip: Equip | None = None,
) -> tuple[ToolSnapshot, str | None]:
    """Return the tools of an agent as its runs have them, and the name of its completion tool, if any.

    The settings also apply to an agent's own tools, which no registry holds.
    """
    path = parent.agent_path if parent is not None else ()
    tools, completion = choose_tools(definition, find_tools(host, parent, definition), path)
    if not has_tab:  # without a browser its tools can only fail
        tools = ToolSnapshot.of((tool for tool in tools if not tool.needs_tab), tools.generation)
    equipped = tools if equip is None else equip(tools)
    if definition.tool_config.names is None:  # so that prompts with and without a tab begin alike
        equipped = ToolSnapshot.of(sorted(equipped, key=lambda tool: tool.needs_tab), tools.generation)
    registry = host.get_tool_registry()
    kept = (name for name in equipped.tools if name == completion or registry.is_active(name))
    return equipped.select(kept), completion


def find_tools(host: AgentHost, run: RunContext | None, definition: AgentDefinition) -> ToolSnapshot:
    """Return the tools that an agent chooses from: those of the run that starts it, otherwise all.

    Those of MCP servers that other agents keep to themselves are left out, its own are added.
    """
    registered = host.get_tool_registry().snapshot()
    available = run.tools if run is not None and isinstance(run.tools, ToolSnapshot) else registered
    kept = host.get_agent_registry().own_servers
    if not kept:
        return available
    tools = {tool.name: tool for tool in available if tool.origin not in kept}
    tools |= {tool.name: tool for tool in registered if definition.tool_config.owns(tool)}
    return ToolSnapshot.of(tools.values(), available.generation)


def find_own_tools(host: AgentHost, definition: AgentDefinition) -> list[Tool]:
    """Return the tools that an agent has whether or not its caller may use them."""
    config = definition.tool_config
    served = host.get_tool_registry().snapshot() if config.mcp_servers else ()
    return [*config.own, *(tool for tool in served if config.owns(tool))]


def choose_tools(
    definition: AgentDefinition, available: ToolSnapshot, agent_path: Sequence[str]
) -> tuple[ToolSnapshot, str | None]:
    """Return the tools an agent may use and the name of its completion tool, if any.

    The tools are among `available`, plus those that the definition itself brings. They are in the order in
    which the definition names them: models prefer the first ones. Agents that are already running above it
    are left out, so no circle can form. A dispatcher stands for its agents: it is narrowed to those that the
    definition names, unless the definition names the dispatcher.
    """
    hidden = {*agent_path, definition.name, COMPLETE_TASK}
    config = definition.tool_config
    wanted = [kept for tool in available if (kept := _choose(tool, config, hidden)) is not None]
    chosen = {tool.name: tool for tool in sorted(wanted, key=lambda tool: _find_place(tool, config.names))}
    chosen |= {tool.name: tool for tool in config.own}
    if definition.output_config is None:
        return ToolSnapshot.of(chosen.values(), available.generation), None
    output = definition.output_config
    chosen[COMPLETE_TASK] = make_completion_tool(
        output.schema, name=output.output_name, description=output.description
    )
    return ToolSnapshot.of(chosen.values(), available.generation), COMPLETE_TASK


def find_limits(definition: AgentDefinition, settings: Settings) -> BudgetLimits:
    """Return the limits of a run of an agent, none of them higher than those of the settings.

    The settings supply missing limits for the agents below it.
    """
    run = definition.run_config
    tree: dict[str, int] = {}
    for name in TREE_LIMITS:
        own = getattr(run, name)
        value = getattr(settings.section(SubagentSettings), name) if own is None else own
        check_limit(name, value)
        if value is not None:
            tree[_BUDGET_NAMES[name]] = value
    limits = BudgetLimits(
        turns=run.max_turns,
        seconds=run.max_seconds,
        tokens=run.max_tokens,
        cost=run.max_cost,
        calls=run.max_calls,
        **tree,
    )
    return limits.within(settings.section(LimitSettings))


def find_days(host: AgentHost, definition: AgentDefinition, owner: str | None) -> Days:
    """Return the daily limits that a run of an agent counts for."""
    run = definition.run_config
    own = SpendLimits(cost=run.max_cost_per_day, calls=run.max_calls_per_day)
    return open_days(host.runtime.spend, host.settings, definition.name, owner=owner, own=own)


def find_missing(definition: AgentDefinition, available: ToolSnapshot) -> list[str]:
    """Return the names and globs of a definition that match no tool: misspelt, or not connected yet."""
    names = [tool.name for tool in available]
    names += [name for tool in available if isinstance(tool, Dispatcher) for name in tool.agents]
    patterns = definition.tool_config.names or ()
    return [pattern for pattern in patterns if not any(fnmatchcase(name, pattern) for name in names)]


def build_messages(
    definition: AgentDefinition,
    inputs: Mapping[str, Any],
    history: Sequence[ChatMessage] = (),
    preface: str = "",
) -> list[ChatMessage]:
    """Return system prompt, preface, initial messages, history and query, with their templates filled.

    In templates, an optional input that is missing has its default, otherwise it is empty.
    """
    prompt = definition.prompt_config
    values = fill_defaults(definition.input_config, inputs)
    messages: list[ChatMessage] = []
    if prompt.system_prompt:
        messages.append({"role": "system", "content": fill_template(prompt.system_prompt, values)})
    if preface:
        messages.append({"role": "system", "content": preface})
    messages += [
        {**message, "content": fill_template(str(message.get("content", "")), values)}
        for message in prompt.initial_messages
    ]
    messages += history
    known = {name: value for name, value in values.items() if name in inputs or value != ""}
    query = fill_template(prompt.query, values) if prompt.query else _describe(known)
    messages.append({"role": "user", "content": query})
    return messages


def build_preface(
    host: WorkspaceHost,
    what: Literal["conversation", "task"],
    began: float,
    tools: ToolSnapshot,
    mode: Mode = "default",
    time_zone: str | None = None,
) -> str:
    """Return the preface of a chat or of a sub-agent's task; skills are listed if the agent can load them.

    The time is that of `time_zone`, by default of this machine. Tools are not named: every request has their
    definitions.
    """
    moment = datetime.fromtimestamp(began, UTC).astimezone(find_zone(time_zone) if time_zone else None)
    lines = [
        describe_start(what, moment, time_zone or time.tzname[0]),
        _describe_place(host),
        _PLAN if mode == "plan" else "",
        summarize_skills(host.skills) if LOAD_SKILL in tools else "",
    ]
    return "\n".join(line for line in lines if line)


def _describe_place(host: WorkspaceHost) -> str:
    if host.project == host.workspace:
        return describe_place(host.workspace.name)
    return describe_place(host.workspace.name, host.project.relative_to(host.workspace).as_posix())


async def warm_up(
    host: AgentHost, agent: str = "master", *, has_tab: bool = True, equip: Equip | None = None
) -> None:
    """Have an embedded model read the beginning of a chat with `agent`, whose tools `equip` completes.

    Never fails.
    """
    try:
        definition = host.get_agent_registry().get_definition(agent)
        model = choose_model(definition, None)
        await host.runtime.learn_names(model)
        requester = host.runtime.requester(model)
        read: Callable[[ModelRequest], Awaitable[None]] | None = getattr(requester, "warm_up", None)
        if read is None:
            return
        tools, _ = equip_agent(host, definition, has_tab=has_tab, equip=equip)
        tools = leave_out_rare(tools, definition, requester)
        system = {"role": "system", "content": definition.prompt_config.system_prompt}
        request = ModelRequest(messages=[system, {"role": "user", "content": "Hello"}], tools=tools.specs)
        await read(request)
    except DovetailError as error:
        logger.info("Failed to warm up the model: %s", error)


def _choose(tool: Tool, config: ToolConfig, hidden: Set[str]) -> Tool | None:
    is_wanted = config.wants(tool.name)
    if isinstance(tool, Dispatcher):
        return tool.narrow(
            lambda agent: (
                agent.name not in hidden
                and not config.refuses(agent.name)
                and (is_wanted or (config.wants(agent.name) and not config.refuses(tool.name)))
            )
        )
    if not is_wanted and not config.owns(tool):
        return None
    return None if tool.origin == "agent" and tool.name in hidden else tool


def _find_place(tool: Tool, patterns: Sequence[str] | None) -> int:
    fitting = (place for place, pattern in enumerate(patterns or ()) if fnmatchcase(tool.name, pattern))
    return next(fitting, len(patterns or ()))


def _describe(inputs: Mapping[str, Any]) -> str:
    if len(inputs) == 1:
        return to_text(next(iter(inputs.values())))
    return "\n".join(f"{name}: {to_text(value)}" for name, value in inputs.items()) or _START
