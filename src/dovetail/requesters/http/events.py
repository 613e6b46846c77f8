"""Server-sent events: bytes, cut anywhere, split into events; and the pattern that most of them repeat."""

import json
import re
from typing import Self

from dovetail.events.delta import ReasoningDelta, TextDelta

_read_json = json.JSONDecoder().raw_decode


class EventSplitter:
    """Split bytes, cut anywhere, into server-sent events and return the `data` of complete ones."""

    __slots__ = ("_ends_with_return", "_pieces", "waiting")

    def __init__(self) -> None:
        self.waiting = 0  # bytes of an event that is not complete yet
        self._pieces: list[bytes] = []
        self._ends_with_return = False

    def feed(self, data: bytes) -> list[str]:
        """Return the data of the events that these bytes complete."""
        if b"\r" in data or self._ends_with_return:
            data = self._unify_newlines(data)
        if not self._pieces and data.endswith(b"\n\n") and data.find(b"\n\n") == len(data) - 2:
            return _read_block(data[:-2])  # one event in one piece, as most of them come
        self._pieces.append(data)
        self.waiting += len(data)
        if b"\n" not in data:
            return []  # only a newline completes an event: what has none is joined once, later
        *blocks, rest = b"".join(self._pieces).split(b"\n\n")
        self._pieces, self.waiting = [rest] if rest else [], len(rest)
        return [text for block in blocks for text in _read_block(block)]

    def finish(self) -> list[str]:
        """Return the data of an event that the end of the stream completes."""
        block = b"".join(self._pieces)
        self._pieces = []
        return _read_block(block)

    def _unify_newlines(self, data: bytes) -> bytes:
        if self._ends_with_return:
            # The carriage return has already ended its line; the newline that follows belongs to it.
            data = data.removeprefix(b"\n")
        self._ends_with_return = data.endswith(b"\r")
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _read_block(block: bytes) -> list[str]:
    if block.startswith(b"event: "):
        block = block[block.find(b"\n") + 1 :]  # the data repeat the type
    if block.startswith(b"data: ") and b"\n" not in block:
        return [block[6:].decode("utf-8", "replace").lstrip()]
    lines = [line for line in block.decode("utf-8", "replace").split("\n") if line.startswith("data:")]
    return ["\n".join(line[5:].lstrip() for line in lines)] if lines else []


class TextPattern:
    """A chunk around its one text; chunks with the same beginning and end differ only in that text."""

    __slots__ = ("_begin", "_end", "_kind", "_place")

    def __init__(self, chunk: str, delta: TextDelta | ReasoningDelta, place: int, end: int) -> None:
        self._kind = type(delta)
        self._place = place  # of the text's opening quote
        self._begin = chunk[: place + 1]
        self._end = chunk[end:]

    @classmethod
    def learn(cls, chunk: str, delta: TextDelta | ReasoningDelta, places: re.Pattern[str]) -> Self | None:
        """Return the pattern of a chunk whose only content is this delta; None if its place is ambiguous.

        `places` matches a key whose value may be the text, up to the opening quote.
        """
        quotes = (match.end() - 1 for match in places.finditer(chunk))
        texts = [(place, *_read_json(chunk, place)) for place in quotes]
        fitting = [(place, end) for place, text, end in texts if text == delta.text]
        return cls(chunk, delta, *fitting[0]) if len(fitting) == 1 else None

    def read(self, chunk: str) -> TextDelta | ReasoningDelta | None:
        """Return the delta of a chunk of this pattern; None for any other chunk."""
        if not chunk.startswith(self._begin) or not chunk.endswith(self._end):
            return None
        try:
            text, end = _read_json(chunk, self._place)
        except ValueError:
            return None
        return self._kind(text) if text and end + len(self._end) == len(chunk) else None
