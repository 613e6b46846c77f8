"""An assistant's message in its original order: text, calls, and the parts that its provider wants back.

A provider part goes to the API that made it and to no other; for others it is as if it were not there.
"""

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from dovetail.data.shapes import is_list, is_mapping, read_count
from dovetail.events.call import ChatMessage
from dovetail.requesters.content import read_arguments, read_text


@dataclass(frozen=True, slots=True)
class TextPiece:
    """Some of the message's text; never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class CallPiece:
    """One call; arguments that are not a JSON object become `{"value": …}`, since APIs want an object."""

    call_id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class OwnPiece:
    """A part that this provider made."""

    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CallIds:
    """The ids of calls that an API accepts; other models' ids may be longer or have other characters."""

    pattern: str = "[a-zA-Z0-9_-]{1,64}"
    length: int = 32
    """Characters of an id that replaces one the API rejects."""

    def fit(self, call_id: str) -> str:
        """Return the id if the API accepts it, else one made from it: always the same for the same id."""
        if re.fullmatch(self.pattern, call_id):
            return call_id
        digest = hashlib.sha256(call_id.encode("utf-8", "replace")).digest()
        return base64.b32encode(digest).decode("ascii")[: self.length]


Piece: TypeAlias = TextPiece | CallPiece | OwnPiece


def arrange(message: ChatMessage, source: str) -> Iterator[Piece]:
    """Yield the pieces of an assistant's message in the order in which they were written."""
    text = read_text(message.get("content"))
    calls: Sequence[Mapping[str, Any]] = message.get("tool_calls") or ()
    written, made = 0, 0
    for part in find_own_parts(message, source):
        end, before = read_count(part.get("text")), read_count(part.get("calls"))
        if text[written:end]:
            yield TextPiece(text[written:end])
        yield from map(_read_call, calls[made:before])
        written, made = max(written, end), max(made, before)
        yield OwnPiece(part["data"])
    if text[written:]:
        yield TextPiece(text[written:])
    yield from map(_read_call, calls[made:])


def find_own_parts(message: ChatMessage, source: str) -> list[Mapping[str, Any]]:
    """Return the parts of a message that `source` made, in order."""
    parts: Any = message.get("provider_parts")
    return [
        part
        for part in (parts if is_list(parts) else ())
        if is_mapping(part) and part.get("source") == source and is_mapping(part.get("data"))
    ]


def _read_call(call: Mapping[str, Any]) -> CallPiece:
    function = call["function"]
    return CallPiece(str(call["id"]), str(function["name"]), read_arguments(function.get("arguments")))
