"""What the settings change in an agent: `[agents.<name>]` in `dovetail.toml`."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from dovetail.data.shapes import is_list, is_mapping
from dovetail.data.text import shorten
from dovetail.errors import ConfigError
from dovetail.subagents.definition import AgentDefinition, RunConfig, ToolConfig

_LIMITS = tuple(field.name for field in dataclasses.fields(RunConfig))
_KEYS = ("enabled", "model", "options", "tools", *_LIMITS)


def is_switched_off(override: Mapping[str, Any]) -> bool:
    """Whether the settings switch the agent off."""
    return override.get("enabled") is False


def apply_override(definition: AgentDefinition, override: Any) -> AgentDefinition:
    """The agent as the settings want it: `model`, `options`, `tools`, limits.

    Raises:
        ConfigError: the settings say something that an agent does not have, or a wrong value.
    """
    place = f"the settings [agents.{definition.name}]"
    if not is_mapping(override):
        raise ConfigError(f"{place} must be a table, not {shorten(override)}")
    unknown = sorted(set(override) - set(_KEYS))
    if unknown:
        raise ConfigError(f"Unknown key {unknown[0]!r} in {place}. Expected one of: {', '.join(_KEYS)}.")
    try:
        return _apply(definition, override)
    except ConfigError as error:
        raise ConfigError(f"{place}: {error.message}", hint=error.hint) from error


def _apply(definition: AgentDefinition, override: Mapping[str, Any]) -> AgentDefinition:
    model, tools, limits = definition.model_config, definition.tool_config, definition.run_config
    if not isinstance(override.get("enabled", True), bool):
        raise ConfigError(f"`enabled` must be true or false, not {shorten(override['enabled'])}")
    if "model" in override:
        model = dataclasses.replace(model, model=_read_text(override["model"]))
    if "options" in override:
        model = dataclasses.replace(model, options={**model.options, **_read_options(override["options"])})
    if "tools" in override:
        tools = ToolConfig(tools=_read_names(override["tools"]))
    if changed := {key: override[key] for key in _LIMITS if key in override}:
        limits = dataclasses.replace(limits, **changed)
    return dataclasses.replace(definition, model_config=model, tool_config=tools, run_config=limits)


def _read_text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ConfigError(f"`model` must be a name such as openai:gpt-4.1, not {shorten(value)}")
    return value


def _read_options(value: Any) -> Mapping[str, Any]:
    if not is_mapping(value):
        raise ConfigError(f"`options` must be a table such as {{temperature = 0}}, not {shorten(value)}")
    return value


def _read_names(value: Any) -> tuple[str, ...]:
    if not is_list(value) or not all(isinstance(name, str) for name in value):
        raise ConfigError(f"`tools` must be a list of tool names or globs, not {shorten(value)}")
    return tuple(value)
