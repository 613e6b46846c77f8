"""Agent files: `agents/*.md`, YAML front matter plus the system prompt as body."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from dovetail.data.front_matter import split_front_matter
from dovetail.data.shapes import is_list, is_mapping
from dovetail.errors import ConfigError
from dovetail.subagents.definition import (
    AgentDefinition,
    InputConfig,
    ModelConfig,
    OutputConfig,
    PromptConfig,
    RunConfig,
    ToolConfig,
)

Check: TypeAlias = Callable[[Path, bytes], None]

_KEYS = {
    "name",
    "description",
    "display_name",
    "inputs",
    "input_schema",
    "output",
    "query",
    "model",
    "options",
    "max_turns",
    "max_seconds",
    "max_tokens",
    "tool",
    "tools",
}
_DEFAULT_INPUTS = {"query": {"type": "string", "description": "What to do.", "required": True}}


def list_agent_files(folder: Path) -> list[Path]:
    """Every `*.md` in the folder; names that begin with `_` are left out."""
    return [path for path in sorted(folder.glob("*.md")) if not path.name.startswith("_")]


def load_definition(path: Path, check: Check | None = None) -> AgentDefinition:
    """The agent a file defines; raises ConfigError with the file and what is wrong in it.

    `check` sees the very bytes that are then read, and may refuse them.
    """
    try:
        content = path.read_bytes()
        if check is not None:
            check(path, content)
        front, body = _split(content.decode("utf-8"))
        return _build(front, body, path)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error
    except ConfigError as error:
        raise ConfigError(f"{path}: {error.message}", hint=error.hint) from error


def _split(text: str) -> tuple[Mapping[str, Any], str]:
    front, body = split_front_matter(text)
    if not front:
        hint = "Begin the file with `---`, then `name:` and `description:`, then `---`."
        raise ConfigError("no front matter", hint=hint)
    return front, body.strip()


def _build(front: Mapping[str, Any], body: str, path: Path) -> AgentDefinition:
    unknown = sorted(set(front) - _KEYS)
    if unknown:
        raise ConfigError(f"unknown keys: {', '.join(unknown)}", hint=f"Known: {', '.join(sorted(_KEYS))}.")
    name = str(front.get("name") or path.stem)
    if not front.get("description"):
        raise ConfigError("no description", hint="`description:` tells other agents when to call this one.")
    inputs = front.get("inputs") or ({} if front.get("input_schema") else _DEFAULT_INPUTS)
    return AgentDefinition(
        name=name,
        description=str(front["description"]),
        display_name=str(front.get("display_name") or ""),
        input_config=InputConfig(inputs=inputs, schema=front.get("input_schema")),
        output_config=_output(front.get("output")),
        prompt_config=PromptConfig(system_prompt=body, query=str(front.get("query") or "")),
        model_config=ModelConfig(model=front.get("model"), options=front.get("options") or {}),
        run_config=_limits(front),
        tool_config=ToolConfig(tools=_tools(front.get("tools"))),
        is_tool=front.get("tool") is not False,
        source=str(path),
    )


def _output(value: Any) -> OutputConfig | None:
    if value is None:
        return None
    if not is_mapping(value):
        raise ConfigError(f"`output` must be a mapping with `name`, `description`, `schema`, not {value!r}")
    return OutputConfig(
        output_name=str(value.get("name", "result")),
        description=str(value.get("description", "The result of the task.")),
        schema=value.get("schema"),
    )


def _limits(front: Mapping[str, Any]) -> RunConfig:
    given = {key: front[key] for key in ("max_turns", "max_seconds", "max_tokens") if key in front}
    for key, value in given.items():
        if not isinstance(value, int | float) or isinstance(value, bool) or value <= 0:
            raise ConfigError(f"`{key}` must be a positive number, not {value!r}")
    return RunConfig(**given)


def _tools(value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not is_list(value) or not all(isinstance(name, str) for name in value):
        raise ConfigError(f"`tools` must be a list of tool names or globs, not {value!r}")
    return tuple(value)
