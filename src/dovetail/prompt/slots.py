"""Read the slots (rule P1) from a prompt's data: validate and normalize without copying."""

from collections.abc import Mapping, Sized
from dataclasses import dataclass
from typing import Any

from dovetail.data.shapes import has_items, is_blank, is_dict, is_mapping, is_sequence, is_set
from dovetail.data.text import read_text
from dovetail.errors import EmptyPromptError
from dovetail.lazy import lazy
from dovetail.prompt.parts import Message, read_attachment, read_history

_rejection = lazy("dovetail.prompt.rejection")

STANDARD = frozenset(
    {
        "system",
        "developer",
        "chat_history",
        "tools",
        "action_results",
        "info",
        "instruct",
        "examples",
        "input",
        "attachment",
        "output",
        "output_format",
        "options",
    }
)

_FIRST_OF_A_TOOL = ("name", "desc", "kwargs", "returns")
_ORDERED_TOOLS = (_FIRST_OF_A_TOOL[:3], _FIRST_OF_A_TOOL)

EMPTY_MESSAGE = (
    "Prompt requires at least one of 'input', 'info', 'instruct', 'output', 'attachment' "
    "or customize extra prompt keys to be provided."
)


@dataclass(slots=True)
class Slots:
    """The slots of a prompt; `extra` holds the keys that are not standard slots, in their order."""

    system: Any
    developer: Any
    chat_history: list[Message]
    tools: list[Mapping[str, Any]]
    action_results: Any
    info: Any
    instruct: Any
    examples: Any
    input: Any
    attachment: list[dict[str, Any]]
    output: Any
    output_format: str
    options: dict[str, Any]
    extra: dict[str, Any]


def read_slots(data: Mapping[str, Any]) -> Slots:
    """Return the slots of a prompt's data; raise a validation error for an invalid slot."""
    get = data.get
    output, output_format = read_output(get("output"), get("output_format"))
    return Slots(
        get("system"),
        get("developer"),
        read_history(get("chat_history")),
        read_tools(get("tools")),
        get("action_results"),
        get("info"),
        get("instruct"),
        get("examples"),
        get("input"),
        read_attachment(get("attachment")),
        output,
        output_format,
        read_options(get("options")),
        {key: value for key, value in data.items() if key not in STANDARD},
    )


def require_content(slots: Slots) -> None:
    """Reject an empty prompt (rule P60)."""
    if slots.extra or not all(
        is_blank(value) for value in (slots.input, slots.info, slots.instruct, slots.output, slots.attachment)
    ):
        return
    raise EmptyPromptError(EMPTY_MESSAGE)


def is_empty(value: Any) -> bool:
    """Return whether a slot has nothing to show: None or an empty collection; 0 and False are shown."""
    return value is None or (not value and isinstance(value, Sized))


def read_tools(value: Any) -> list[Mapping[str, Any]]:
    """Return the tools, each a mapping with a name, a description and parameters."""
    if value is None:
        return []
    if not is_sequence(value) and not is_set(value):
        raise _rejection.reject("tools", value, "tools must be a list")
    return [_read_tool(tool, position) for position, tool in enumerate(value)]


def _read_tool(tool: Any, position: int) -> Mapping[str, Any]:
    if not is_mapping(tool):
        raise _rejection.reject(
            f"tools[{position}]", tool, "a tool must be a mapping with name, desc and kwargs"
        )
    name, description, parameters = tool.get("name"), tool.get("desc"), tool.get("kwargs")
    if not is_mapping(parameters) or any(read_text(key) is None for key in parameters):
        raise _reject_tool(tool, position)
    if type(name) is str and type(description) is str:
        return tool
    name, description = read_text(name), read_text(description)
    if name is None or description is None:
        raise _reject_tool(tool, position)
    return {**tool, "name": name, "desc": description}


def order_tool(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a tool with its keys in the order of their lines: name, desc, kwargs, returns, then the rest."""
    if tuple(tool) in _ORDERED_TOOLS:
        return tool
    return {**{key: tool[key] for key in _FIRST_OF_A_TOOL if key in tool}, **tool}


def _reject_tool(tool: Mapping[str, Any], position: int) -> Exception:
    missing = [key for key in ("name", "desc", "kwargs") if key not in tool]
    if missing:
        return _rejection.reject(f"tools[{position}]", dict(tool), f"a tool needs {', '.join(missing)}")
    for key in ("name", "desc"):
        if read_text(tool[key]) is None:
            return _rejection.reject(f"tools[{position}].{key}", tool[key], f"a tool's {key} must be text")
    rule = "a tool's kwargs must be a mapping with names as keys"
    return _rejection.reject(f"tools[{position}].kwargs", tool["kwargs"], rule)


def read_options(value: Any) -> dict[str, Any]:
    """Return the options for the provider."""
    if value is None:
        return {}
    if not is_mapping(value):
        raise _rejection.reject("options", value, "options must be a mapping")
    return value if is_dict(value) else dict(value)


def read_output(output: Any, output_format: Any) -> tuple[Any, str]:
    """Return the output schema and its format; a class alone becomes a value with a reply."""
    if output_format is not None:
        return output, str(output_format)
    if is_mapping(output) or has_items(output):
        return output, "json"
    if isinstance(output, type):
        return (None, "markdown") if output is str else (wrap_class(output), "json")
    return output, "markdown"


def wrap_class(output: Any) -> dict[str, Any]:
    """Return the schema that requests an instance of a class."""
    return {"value": (output,), "reply": (str, "Reply according the result value")}
