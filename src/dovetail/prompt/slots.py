"""The slots of document 002, read from a prompt's data: checked, normalised, nothing copied."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dovetail.data.annotations import is_annotation
from dovetail.data.shapes import is_mapping, is_sequence
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

EMPTY_MESSAGE = (
    "Prompt requires at least one of 'input', 'info', 'instruct', 'output', 'attachment' "
    "or customize extra prompt keys to be provided."
)


@dataclass(slots=True)
class Slots:
    """What a prompt says, slot by slot; `extra` holds the keys that are no standard slot, in their order."""

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
    options: Any
    extra: dict[str, Any]


def read_slots(data: Mapping[str, Any]) -> Slots:
    """The slots of a prompt's data; a slot that holds what it cannot hold is a validation error."""
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
        get("options"),
        {key: value for key, value in data.items() if key not in STANDARD},
    )


def require_content(slots: Slots) -> None:
    """Refuse a prompt that has nothing to say (document 002, 1)."""
    if slots.extra or not all(
        is_empty(value) for value in (slots.input, slots.info, slots.instruct, slots.output, slots.attachment)
    ):
        return
    raise EmptyPromptError(EMPTY_MESSAGE)


def is_empty(value: Any) -> bool:
    """Whether a slot counts as not given: None, "", [] or {}."""
    return value is None or (not value and isinstance(value, (str, list, dict)))


def read_tools(value: Any) -> list[Mapping[str, Any]]:
    """The tools, each a mapping that has at least name, desc and kwargs."""
    if value is None:
        return []
    tools: list[Any] = list(value) if is_sequence(value) else [value]
    for position, tool in enumerate(tools):
        if not is_mapping(tool):
            raise _rejection.reject(
                f"tools[{position}]", tool, "a tool must be a mapping with name, desc and kwargs"
            )
        if not ("name" in tool and "desc" in tool and "kwargs" in tool):
            missing = [key for key in ("name", "desc", "kwargs") if key not in tool]
            raise _rejection.reject(f"tools[{position}]", dict(tool), f"a tool needs {', '.join(missing)}")
    return tools


def read_output(output: Any, output_format: Any) -> tuple[Any, str]:
    """The output schema and its format; a class alone is asked for as a value and a reply to it."""
    if output_format is not None:
        return output, str(output_format)
    if is_empty(output) or output is str:
        return (None if output is str else output), "markdown"
    if is_mapping(output) or is_sequence(output):
        return output, "json"
    return (wrap_class(output), "json") if is_annotation(output) else (output, "markdown")


def wrap_class(output: Any) -> dict[str, Any]:
    """The schema that asks for an instance of a class."""
    return {"value": (output,), "reply": (str, "Reply according the result value")}
