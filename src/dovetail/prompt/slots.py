"""The slots of document 002, read from a prompt's data: checked, normalised, nothing copied."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dovetail.data.annotations import is_annotation
from dovetail.data.shapes import is_mapping, is_sequence
from dovetail.errors import EmptyPromptError
from dovetail.lazy import lazy
from dovetail.prompt.parts import Message, read_attachment, read_history

_rejection = lazy("dovetail.prompt.rejection")

STANDARD = (
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
)

EMPTY_MESSAGE = (
    "Prompt requires at least one of 'input', 'info', 'instruct', 'output', 'attachment' "
    "or customize extra prompt keys to be provided."
)


@dataclass(slots=True)
class Slots:
    """What a prompt says, slot by slot; `extra` holds the keys that are no standard slot, in their order."""

    system: Any = None
    developer: Any = None
    chat_history: list[Message] = field(default_factory=list[Message])
    tools: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    action_results: Any = None
    info: Any = None
    instruct: Any = None
    examples: Any = None
    input: Any = None
    attachment: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    output: Any = None
    output_format: str = "markdown"
    options: Any = None
    extra: dict[str, Any] = field(default_factory=dict[str, Any])


def read_slots(data: Mapping[str, Any]) -> Slots:
    """The slots of a prompt's data; a slot that holds what it cannot hold is a validation error."""
    slots = Slots()
    for key, value in data.items():
        reader = _READERS.get(key)
        if reader is not None:
            setattr(slots, key, reader(value))
        elif key in _PLAIN:
            setattr(slots, key, value)
        elif key not in _OUTPUT:
            slots.extra[key] = value
    slots.output, slots.output_format = read_output(data.get("output"), data.get("output_format"))
    return slots


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
        path = f"tools[{position}]"
        if not is_mapping(tool):
            raise _rejection.reject(path, tool, "a tool must be a mapping with name, desc and kwargs")
        missing = [key for key in ("name", "desc", "kwargs") if key not in tool]
        if missing:
            raise _rejection.reject(path, dict(tool), f"a tool needs {', '.join(missing)}")
    return tools


def read_output(output: Any, output_format: Any) -> tuple[Any, str]:
    """The output schema and its format; a class alone is asked for as a value and a reply to it."""
    if output_format is not None:
        return output, str(output_format)
    if output is str:
        return None, "markdown"
    if is_annotation(output):
        return wrap_class(output), "json"
    if is_mapping(output) or is_sequence(output):
        return output, "markdown" if is_empty(output) else "json"
    return output, "markdown"


def wrap_class(output: Any) -> dict[str, Any]:
    """The schema that asks for an instance of a class."""
    return {"value": (output,), "reply": (str, "Reply according the result value")}


_READERS: dict[str, Any] = {"chat_history": read_history, "tools": read_tools, "attachment": read_attachment}
_OUTPUT = frozenset({"output", "output_format"})
_PLAIN = frozenset(STANDARD) - _OUTPUT - frozenset(_READERS)
