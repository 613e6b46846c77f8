"""Agent files and what the settings change in them.

A file `agents/*.md` has YAML front matter, then the system prompt. The settings `[agents.<name>]` can
override its model, options, tools and limits, or disable the agent.
"""

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from dovetail.agents.definition import (
    TREE_LIMITS,
    AgentDefinition,
    InputConfig,
    ModelConfig,
    OutputConfig,
    PromptConfig,
    RunConfig,
    ToolConfig,
    check_definition,
    fill_defaults,
)
from dovetail.agents.foreign import IGNORED, convert_foreign, read_server_names
from dovetail.agents.schedule import read_schedules
from dovetail.data.front_matter import split_front_matter
from dovetail.data.shapes import is_list, is_mapping
from dovetail.data.template import fill_template, find_names
from dovetail.data.text import expected_one_of, explain_unknown, shorten
from dovetail.errors import ConfigError
from dovetail.schema.validate import compile_schema
from dovetail.settings.agents import AgentSettings
from dovetail.settings.section import check_keys

Check: TypeAlias = Callable[[Path, bytes], None]

_KEYS = {
    "name",
    "description",
    "background",
    "display_name",
    "inputs",
    "input_schema",
    "output",
    "query",
    "limits",
    "mcp_servers",
    "model",
    "options",
    "priority",
    "queue",
    "schedule",
    "tool",
    "tools",
}
_RUN_LIMITS = ("turns", "seconds", "tokens", "cost", "calls")
_DAY_LIMITS = ("cost", "calls")
_LIMITS = (
    *(f"max_{name}" for name in _RUN_LIMITS),
    *(f"max_{name}_per_day" for name in _DAY_LIMITS),
    *TREE_LIMITS,
)
_PLACE = ("queue", "priority")
_ALIASES = ("haiku", "opus", "sonnet")
"""Names that only Claude Code resolves."""
_OVERRIDE_LIMITS = tuple(field.name for field in dataclasses.fields(RunConfig))
_DEFAULT_INPUTS = {"query": {"type": "string", "description": "What to do.", "required": True}}


def list_agent_files(folder: Path) -> list[Path]:
    """Return every `*.md` in the folder, except for names that begin with `_`."""
    return [path for path in sorted(folder.glob("*.md")) if not path.name.startswith("_")]


def load_definition(path: Path, check: Check | None = None) -> AgentDefinition:
    """Read the agent that a file defines.

    `check` gets the same bytes that are then read, and may reject them.

    Raises:
        ConfigError: the file is invalid; the message has its path and the reason.
    """
    try:
        content = path.read_bytes()
        if check is not None:
            check(path, content)
        front, body = _split(content.decode("utf-8"))
        return _build(front, body, path)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"Cannot read {path}: {error}") from error
    except ConfigError as error:
        raise ConfigError(f"{path}: {error.message}", hint=error.hint) from error


def peek(path: Path) -> tuple[str, Mapping[str, Any]]:
    """Return the name of the agent in a file and its front matter, which is empty if it cannot be read."""
    front: Mapping[str, Any] = {}
    with suppress(OSError, UnicodeDecodeError, ConfigError):
        front, _ = split_front_matter(path.read_text(encoding="utf-8"))
    return _find_name(front, path), front


def locate(path: Path | str, word: str) -> str:
    """Return `path:line` of a word in the front matter of a file, or the path alone."""
    pattern = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])")
    with suppress(OSError, UnicodeDecodeError):
        for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
            if number > 1 and line.rstrip() == "---":
                break
            if pattern.search(line):
                return f"{path}:{number}"
    return str(path)


def find_ignored(path: Path) -> list[str]:
    """Return the keys of other programs in a file that have no effect here."""
    return sorted(key for key in peek(path)[1] if key in IGNORED)


def list_skills(path: Path) -> list[str]:
    """Return the skills that a file of another program names."""
    names = peek(path)[1].get("skills")
    return [str(name) for name in names] if is_list(names) else []


def is_disabled(override: Mapping[str, Any]) -> bool:
    """Return whether the settings disable the agent."""
    return override.get("enabled") is False


def apply_override(definition: AgentDefinition, override: Any) -> AgentDefinition:
    """Return the agent with the `model`, `options`, `tools` and limits of the settings.

    Raises:
        ConfigError: the settings have an unknown key or an invalid value.
    """
    place = f"the settings [agents.{definition.name}]"
    check_keys(AgentSettings, override, f"agents.{definition.name}")
    try:
        return _apply(definition, override)
    except ConfigError as error:
        raise ConfigError(f"{place}: {error.message}", hint=error.hint) from error


def _split(text: str) -> tuple[Mapping[str, Any], str]:
    front, body = split_front_matter(text)
    if not front:
        hint = "Begin the file with `---`, then `name:` and `description:`, then `---`."
        raise ConfigError("Missing front matter.", hint=hint)
    return front, body.strip()


def _build(front: Mapping[str, Any], body: str, path: Path) -> AgentDefinition:
    front = convert_foreign(front)
    unknown = sorted(set(front) - _KEYS - set(_LIMITS))
    if unknown:
        raise ConfigError(explain_unknown("key", unknown[0], sorted(_KEYS.union(_LIMITS))))
    definition = AgentDefinition(
        name=_find_name(front, path),
        description=str(front.get("description") or ""),
        display_name=str(front.get("display_name") or ""),
        input_config=_inputs(front),
        output_config=_output(front.get("output")),
        prompt_config=PromptConfig(system_prompt=body, query=str(front.get("query") or "")),
        model_config=_model(front),
        run_config=_limits(front),
        tool_config=_tools(front),
        is_tool=_flag(front, "tool", default=True),
        background=_flag(front, "background", default=False),
        source=str(path),
    )
    check_definition(definition)
    if not body:
        raise ConfigError("Missing system prompt.", hint="Write it below the second `---`.")
    _check_templates(definition)
    schedules = read_schedules(front.get("schedule"), _fill_query(definition))
    return dataclasses.replace(definition, schedules=schedules) if schedules else definition


def _find_name(front: Mapping[str, Any], path: Path) -> str:
    return str(front.get("name") or path.stem)


def _fill_query(definition: AgentDefinition) -> str:
    """Return the query with the defaults of its inputs; empty if one of them has none."""
    query, values = definition.prompt_config.query, fill_defaults(definition.input_config, {})
    is_complete = all(values.get(name, "") != "" for name in find_names(query))
    return fill_template(query, values) if is_complete else ""


def _check_templates(definition: AgentDefinition) -> None:
    """Check that an input fills each placeholder; otherwise every run would fail."""
    prompt, known = definition.prompt_config, fill_defaults(definition.input_config, {})
    schema = definition.input_config.schema
    if schema is not None and "properties" not in schema:  # they may be named elsewhere in it
        return
    unknown = sorted(find_names(f"{prompt.system_prompt}\n{prompt.query}") - set(known))
    if unknown:
        raise ConfigError(
            f"Unknown placeholder ${{{unknown[0]}}}. {expected_one_of(known)}",
            hint=f"Add an input {unknown[0]!r}, or write $${{{unknown[0]}}} to keep it as plain text.",
        )


def _inputs(front: Mapping[str, Any]) -> InputConfig:
    inputs, schema = front.get("inputs"), front.get("input_schema")
    if schema is not None:
        if inputs is not None:
            raise ConfigError("Use either `inputs` or `input_schema`, not both.")
        compile_schema(_schema(schema, "input_schema"), owner="input_schema")
        return InputConfig(schema=schema)
    if inputs is None:
        return InputConfig(inputs=_DEFAULT_INPUTS)
    if not is_mapping(inputs) or not all(is_mapping(spec) for spec in inputs.values()):
        hint = "One line each: `text: {type: string, description: What to shorten., required: true}`."
        raise ConfigError(f"`inputs` must map each name to a description, got {shorten(inputs)}.", hint=hint)
    return InputConfig(inputs={str(name): spec for name, spec in inputs.items()})


def _schema(value: Any, key: str) -> Mapping[str, Any]:
    if not is_mapping(value):
        raise ConfigError(f"`{key}` must be a JSON Schema, got {shorten(value)}.")
    return value


def _model(front: Mapping[str, Any]) -> ModelConfig:
    model, options = front.get("model"), front.get("options")
    return ModelConfig(
        model=None if model is None else _read_model(model),
        options={} if options is None else _read_options(options),
    )


def _tools(front: Mapping[str, Any]) -> ToolConfig:
    tools = front.get("tools")
    return ToolConfig(
        tools=None if tools is None else _read_tools(tools),
        mcp_servers=read_server_names(front.get("mcp_servers")),
    )


def _flag(front: Mapping[str, Any], key: str, *, default: bool) -> bool:
    value = front.get(key, default)
    if not isinstance(value, bool):
        raise ConfigError(f"`{key}` must be true or false, got {shorten(value)}.")
    return value


def _output(value: Any) -> OutputConfig | None:
    if value is None:
        return None
    if not is_mapping(value):
        raise ConfigError(
            f"`output` must be a mapping with `name`, `description`, `schema`, got {shorten(value)}."
        )
    schema = value.get("schema")
    if schema is not None:
        nested = {"type": "object", "properties": {"output": _schema(schema, "output.schema")}}
        compile_schema(nested, owner="output.schema")
    return OutputConfig(
        output_name=str(value.get("name", "result")),
        description=str(value.get("description", "The result of the task.")),
        schema=schema,
    )


def _limits(front: Mapping[str, Any]) -> RunConfig:
    given = {key: front[key] for key in (*_LIMITS, *_PLACE) if key in front}
    for key, value in _read_limits_table(front.get("limits", {})).items():
        if key in given:
            raise ConfigError(f"Use either `{key}` or the same limit in `limits`, not both.")
        given[key] = value
    for key, value in given.items():
        if value is None:
            raise ConfigError(f"`{key}` has no value.", hint="Write a value, or remove the key.")
    return RunConfig(**given)


def _read_limits_table(value: Any) -> dict[str, Any]:
    """Read the form that the settings have: `limits: {cost: 0.5, calls: 20, day: {cost: 5}}`."""
    if not is_mapping(value) or not is_mapping(value.get("day", {})):
        hint = "Write `limits: {cost: 0.5, calls: 20, day: {cost: 5}}`."
        raise ConfigError(f"`limits` must be a table of limits, got {shorten(value)}.", hint=hint)
    table, day = {key: each for key, each in value.items() if key != "day"}, value.get("day", {})
    for given, known in ((table, (*_RUN_LIMITS, "day")), (day, _DAY_LIMITS)):
        if unknown := [key for key in given if key not in known]:
            raise ConfigError(explain_unknown("limit", str(unknown[0]), sorted(known)))
    per_run = {f"max_{key}": each for key, each in table.items()}
    return per_run | {f"max_{key}_per_day": each for key, each in day.items()}


def _read_model(value: Any) -> str:
    if not isinstance(value, str):
        raise ConfigError(f"`model` must be a name such as openai:gpt-4.1, got {shorten(value)}.")
    if value in _ALIASES:
        hint = f"Write the whole name, such as anthropic:claude-{value}-…, or leave `model` out."
        raise ConfigError(f"Unknown model {value!r}: only Claude Code knows this name.", hint=hint)
    return value


def _read_options(value: Any) -> Mapping[str, Any]:
    if not is_mapping(value):
        raise ConfigError(f"`options` must be a mapping such as {{temperature: 0}}, got {shorten(value)}.")
    return value


def _read_tools(value: Any) -> Sequence[str] | Mapping[str, bool]:
    if is_list(value) and all(isinstance(name, str) for name in value):
        return tuple(value)
    if is_mapping(value) and all(isinstance(on, bool) for on in value.values()):
        return {str(name): on for name, on in value.items()}
    hint = "Write `tools: [read_file, search_*]`, or `tools: {write_file: false}` for all but some."
    raise ConfigError(f"`tools` must be a list of tool names or globs, got {shorten(value)}.", hint=hint)


def _apply(definition: AgentDefinition, override: Mapping[str, Any]) -> AgentDefinition:
    model, tools, limits = definition.model_config, definition.tool_config, definition.run_config
    if not isinstance(override.get("enabled", True), bool):
        raise ConfigError(f"`enabled` must be true or false, got {shorten(override['enabled'])}.")
    if "model" in override:
        model = dataclasses.replace(model, model=_read_model(override["model"] or None))
    if "options" in override:
        model = dataclasses.replace(model, options={**model.options, **_read_options(override["options"])})
    if "tools" in override:
        tools = dataclasses.replace(tools, tools=_read_tools(override["tools"]))
    if changed := {key: override[key] for key in _OVERRIDE_LIMITS if key in override}:
        limits = dataclasses.replace(limits, **changed)
    return dataclasses.replace(definition, model_config=model, tool_config=tools, run_config=limits)
