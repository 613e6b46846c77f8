"""The short way for the many chunks of an answer that differ from the one before in their text alone."""

import json
import re

from dovetail.messages.delta import ReasoningDelta, TextDelta

_PLACE = re.compile(r'"(?:content|reasoning_content|reasoning)":\s*"')
_read_json = json.JSONDecoder().raw_decode


class TextPattern:
    """A chunk around its one text: one with the same beginning and end says the same with another text."""

    __slots__ = ("_begin", "_end", "_kind", "_place")

    def __init__(self, chunk: str, delta: TextDelta | ReasoningDelta, place: int, end: int) -> None:
        self._kind = type(delta)
        self._place = place  # of the text's opening quote
        self._begin = chunk[: place + 1]
        self._end = chunk[end:]

    @classmethod
    def learn(cls, chunk: str, delta: TextDelta | ReasoningDelta) -> "TextPattern | None":
        """The pattern of a chunk of which this delta is all the news; None when its place is not clear."""
        quotes = (match.end() - 1 for match in _PLACE.finditer(chunk))
        texts = [(place, *_read_json(chunk, place)) for place in quotes]
        fitting = [(place, end) for place, text, end in texts if text == delta.text]
        return cls(chunk, delta, *fitting[0]) if len(fitting) == 1 else None

    def read(self, chunk: str) -> TextDelta | ReasoningDelta | None:
        """The delta of a chunk of this pattern; None when it is another one."""
        if not chunk.startswith(self._begin) or not chunk.endswith(self._end):
            return None
        try:
            text, end = _read_json(chunk, self._place)
        except ValueError:
            return None
        return self._kind(text) if text and end + len(self._end) == len(chunk) else None
