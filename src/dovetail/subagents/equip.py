"""What an agent's run begins with: its tools and its first messages."""

from collections.abc import Mapping, Sequence, Set
from fnmatch import fnmatchcase
from typing import Any

from dovetail.data.text import to_text
from dovetail.messages.budget import BudgetLimits
from dovetail.messages.request import ChatMessage
from dovetail.settings import Settings
from dovetail.subagents.completion import COMPLETE_TASK, make_completion_tool
from dovetail.subagents.definition import TREE_LIMITS, AgentDefinition, check_limit
from dovetail.subagents.dispatcher import Dispatcher
from dovetail.subagents.schema import fill_defaults
from dovetail.subagents.template import fill_template
from dovetail.tools.registry import ToolSnapshot
from dovetail.tools.tool import Tool

_START = "Begin."
_BUDGET_NAMES = dict(zip(TREE_LIMITS, ("depth", "width", "total"), strict=True))


def choose_tools(
    definition: AgentDefinition, available: ToolSnapshot, agent_path: Sequence[str]
) -> tuple[ToolSnapshot, str | None]:
    """The tools an agent may use and the name of its completion tool, if any.

    They are never more than `available` and the tools that the definition itself brings.

    They come in the order in which the definition names them: models look at the first ones first.
    Agents that are already at work above it are left out, so no circle can form. A dispatcher stands for
    its agents: it is narrowed to those that the definition names, unless the definition names it.
    """
    hidden = {*agent_path, definition.name, COMPLETE_TASK}
    patterns = definition.tool_config.names
    wanted = [kept for tool in available if (kept := _choose(tool, patterns, hidden)) is not None]
    chosen = {tool.name: tool for tool in sorted(wanted, key=lambda tool: _find_place(tool, patterns))}
    chosen |= {tool.name: tool for tool in definition.tool_config.own}
    if definition.output_config is None:
        return ToolSnapshot.of(chosen.values(), available.generation), None
    chosen[COMPLETE_TASK] = make_completion_tool(definition.output_config)
    return ToolSnapshot.of(chosen.values(), available.generation), COMPLETE_TASK


def find_limits(definition: AgentDefinition, settings: Settings) -> BudgetLimits:
    """The limits of a run of an agent; those of the agents below it come from the settings if it has none."""
    run = definition.run_config
    tree: dict[str, int] = {}
    for name in TREE_LIMITS:
        own = getattr(run, name)
        value = settings.get(f"subagents.{name}") if own is None else own
        check_limit(name, value)
        if value is not None:
            tree[_BUDGET_NAMES[name]] = value
    return BudgetLimits(turns=run.max_turns, seconds=run.max_seconds, tokens=run.max_tokens, **tree)


def find_missing(definition: AgentDefinition, available: ToolSnapshot) -> list[str]:
    """The names and globs of a definition that no tool fits: misspelt, or of a server not connected yet."""
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
    """System prompt, preface, initial messages, history and the query, templates filled from the inputs.

    An input that may be left out and was has its default in templates, otherwise it is empty there.
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


def _describe(inputs: Mapping[str, Any]) -> str:
    if len(inputs) == 1:
        return to_text(next(iter(inputs.values())))
    return "\n".join(f"{name}: {to_text(value)}" for name, value in inputs.items()) or _START


def _choose(tool: Tool, patterns: Sequence[str] | None, hidden: Set[str]) -> Tool | None:
    is_wanted = _is_wanted(tool, patterns)
    if isinstance(tool, Dispatcher):
        return tool.narrow(
            lambda agent: agent.name not in hidden and (is_wanted or _is_wanted(agent, patterns))
        )
    return tool if is_wanted and not (tool.origin == "agent" and tool.name in hidden) else None


def _is_wanted(tool: Tool, patterns: Sequence[str] | None) -> bool:
    return patterns is None or any(fnmatchcase(tool.name, pattern) for pattern in patterns)


def _find_place(tool: Tool, patterns: Sequence[str] | None) -> int:
    fitting = (place for place, pattern in enumerate(patterns or ()) if fnmatchcase(tool.name, pattern))
    return next(fitting, len(patterns or ()))
