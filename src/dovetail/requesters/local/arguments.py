"""The arguments of one chosen tool: their prompt, their grammar, and the reader of the calls.

The model reads this tool alone, with the description of every parameter, and writes a list with the arguments
of each call, one per line. Mostly it is one call; a request for several things of the same kind is several.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dovetail.data.shapes import is_list, is_mapping
from dovetail.events.call import ToolSpec
from dovetail.requesters.local.closed_schema import build_lines_grammar, close_schema
from dovetail.requesters.local.messages import Conversation, TextMessage

MOST_CALLS = 12
EARLIER_MESSAGES = 4
LONGEST_MESSAGE = 1500
"""What a call may refer to: this many messages before the question, each with this many characters."""
_TASK = (
    "Write the calls of a function that the request asks for, as a JSON list with the arguments of each "
    "call. Most requests need one call; write one more for each further thing of the same kind."
)
_RULE = (
    "Take the values from the request; a text that it asks for, write out in full. Leave an optional "
    "parameter out unless the request has a value for it."
)
_TYPES = {
    "string": "text",
    "number": "number",
    "integer": "integer",
    "boolean": "true or false",
    "object": "object",
    "null": "null",
}


def build_argument_texts(tool: ToolSpec, conversation: Conversation) -> list[TextMessage]:
    """Return the prompt for the arguments of a tool: the tool alone, and the end of the conversation."""
    lines = [
        f"Function {tool.name}: {' '.join(tool.description.split())}",
        *_describe_parameters(tool.parameters),
    ]
    parts = [_TASK, "\n".join(lines), _RULE, conversation.circumstances]
    turns = conversation.build_turns(asks=False)[-EARLIER_MESSAGES - 1 :]
    recent = [{**turn, "content": turn["content"][-LONGEST_MESSAGE:]} for turn in turns]
    return [{"role": "system", "content": "\n\n".join(part for part in parts if part)}, *recent]


def _describe_parameters(schema: Mapping[str, Any]) -> list[str]:
    properties: Mapping[str, Any] = schema.get("properties") or {}
    required: Sequence[str] = schema.get("required") or ()
    lines = ["Parameters:"] if properties else ["It has no parameters."]
    for name, inner in properties.items():
        lines += _describe_parameter(name, inner, is_required=name in required)
    return lines


def _describe_parameter(name: str, schema: Any, *, is_required: bool) -> list[str]:
    known: Mapping[str, Any] = schema if is_mapping(schema) else {}
    optional = "" if is_required else ", optional"
    note = " ".join(str(known.get("description") or "").split())
    default = f"Default: {json.dumps(known['default'], ensure_ascii=False)}." if "default" in known else ""
    said = " ".join(text for text in (note, default) if text)
    line = f"- {name} ({name_type(known)}{optional}): {said}".rstrip(" :")
    inner: Mapping[str, Any] = known.get("properties") or {}
    needed: Sequence[str] = known.get("required") or ()
    nested = [
        f"  {line}"
        for key, each in inner.items()
        for line in _describe_parameter(f"{name}.{key}", each, is_required=key in needed)
    ]
    return [line, *nested]


def name_type(schema: Mapping[str, Any]) -> str:
    """Return the type of a value in words.

    >>> name_type({"type": "array", "items": {"enum": ["oak", "ash"]}})
    'list of one of "oak", "ash"'
    """
    if is_list(values := schema.get("enum")):
        return f"one of {', '.join(json.dumps(value, ensure_ascii=False) for value in values)}"
    kind = schema.get("type")
    if kind == "array":
        items = schema.get("items")
        return f"list of {name_type(items)}" if is_mapping(items) and items else "list"
    return _TYPES.get(kind, "value") if isinstance(kind, str) else "value"


def build_argument_grammar(tool: ToolSpec, most: int = MOST_CALLS) -> str:
    """Return the grammar of the list of calls, one item per line, each with the arguments of one call."""
    schema = close_schema(tool.parameters) if tool.parameters else {}
    return build_lines_grammar({"type": "object", "properties": {}, **schema}, least=1, most=most)


@dataclass(slots=True)
class CallReader:
    """Reader of the calls while they are written, one per line: JSON in one spelling has no line breaks."""

    _line: str = ""
    _given: int = 0
    ended: list[str] = field(default_factory=list[str])
    """The arguments of the complete calls."""

    def feed(self, piece: str) -> str:
        """Read a piece; return the new part of the arguments of the first call."""
        is_first = not self.ended
        first = self._line if is_first else self.ended[0]
        for character in piece:
            if character == "\n":
                self._end_line()
            else:
                self._line += character
        if is_first:
            first = self.ended[0] if self.ended else _strip(self._line)
        new = first[self._given :] if is_first else ""
        self._given += len(new)
        return new

    def finish(self) -> list[str]:
        """Return the arguments of all calls; the last one is incomplete if the answer was cut off."""
        self._end_line()
        return self.ended

    def _end_line(self) -> None:
        if text := _strip(self._line):
            self.ended.append(text)
        self._line = ""


def _strip(line: str) -> str:
    # A comma at the end belongs to the list. Other lines are its brackets, or text without the grammar.
    item = line.lstrip(" ").removesuffix(",")
    return item if item.startswith("{") else ""
