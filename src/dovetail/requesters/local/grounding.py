"""Optional arguments that a small model made up: a text of which the conversation has no word.

Small models fill every parameter they see, also with "global" or "miles" where the request says nothing of
the kind; a tool then does not use its own default. So an optional text is left out unless one of its words
was said. Required arguments, numbers, flags, lists and objects stay as they are. In a conversation that is
not plain ASCII everything stays, because there a value may be a translation of what was said.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from dovetail.data.shapes import is_mapping
from dovetail.events.call import ChatMessage, ToolSpec
from dovetail.requesters.content import read_text

_WORD = re.compile(r"[a-z]+|[0-9]+")
_STEM = 4
"""Letters that must agree, so that `mission` and `missions` count as the same word."""

_CODE = 3
"""Letters of a code, such as `USD` or `fr`, which stands for words that it does not resemble."""


def may_invent(tool: ToolSpec | None) -> bool:
    """Return whether a tool has an optional text, which is known to be made up only when it is complete."""
    return tool is not None and bool(_find_optional_texts(tool))


def drop_invented(arguments: Mapping[str, Any], tool: ToolSpec, said: str) -> dict[str, Any]:
    """Return the arguments without optional texts of which no word was said."""
    if not said.isascii():
        return dict(arguments)
    optional = _find_optional_texts(tool)
    words = _WORD.findall(said.lower())
    return {
        name: value
        for name, value in arguments.items()
        if name not in optional or not isinstance(value, str) or _is_said(value, words)
    }


def drop_invented_text(arguments: str, tool: ToolSpec, said: str) -> str:
    """Do the same with arguments as JSON text; a text that was cut off stays as it is."""
    try:
        return json.dumps(drop_invented(json.loads(arguments), tool, said), ensure_ascii=False)
    except (ValueError, AttributeError):
        return arguments


def join_said(messages: Sequence[ChatMessage]) -> str:
    """Return everything that was said before a call, by anyone, on lines."""
    return "\n".join(read_text(message.get("content") or "") for message in messages)


def _find_optional_texts(tool: ToolSpec) -> set[str]:
    properties: Mapping[str, Any] = tool.parameters.get("properties") or {}
    required: Sequence[str] = tool.parameters.get("required") or ()
    return {
        name
        for name, schema in properties.items()
        if name not in required and is_mapping(schema) and schema.get("type") == "string"
    }


def _is_said(value: str, words: Sequence[str]) -> bool:
    if not value.isascii() or 0 < len(value) <= _CODE:
        return True
    parts = _WORD.findall(value.lower())
    return bool(value and not parts) or any(_agree(part, word) for part in parts for word in words)


def _agree(part: str, word: str) -> bool:
    if part.isdigit() or word.isdigit():
        return part.lstrip("0") == word.lstrip("0")
    length = min(_STEM, len(part), len(word))
    return length > 1 and part[:length] == word[:length]
