"""The pattern of streamed events that differ in their text, a number and some padding."""

import json
import re
from functools import partial
from typing import Any

from dovetail.events.delta import Delta, ToolCallDelta
from dovetail.requesters.http.events import TextPattern

_VARYING = re.compile(r'"(sequence_number|obfuscation|delta)":\s*')
_PLAIN = re.compile(r'\d+|"[^"\\]*"')
_read_json = json.JSONDecoder().raw_decode


class EventPattern(TextPattern):
    """An event as constant pieces, with a varying value after each of them but the last.

    The keys of `_VARYING` never match inside a text: there, quotes are escaped.
    """

    __slots__ = ("_last", "_make", "_steps")

    def __init__(self, steps: list[tuple[str, int, bool]], last: str, make: Any) -> None:
        self._steps = steps
        self._last = last
        self._make = make

    @classmethod
    def learn_event(cls, event: str, delta: Delta) -> "EventPattern | None":
        """Return the pattern of an event whose only content is this delta; None if it is not as expected."""
        steps: list[tuple[str, int, bool]] = []
        place, texts = 0, 0
        for match in _VARYING.finditer(event):
            constant, is_text = event[place : match.end()], match[1] == "delta"
            value = _PLAIN.match(event, match.end())
            if is_text:
                _, place = _read_json(event, match.end())
                texts += 1
            elif value is not None:
                place = value.end()
            else:
                return None
            steps.append((constant, len(constant), is_text))
        make = partial(_continue_call, delta.index) if isinstance(delta, ToolCallDelta) else type(delta)
        return cls(steps, event[place:], make) if texts == 1 else None

    def read(self, chunk: str) -> Any:
        """Return the delta of an event of this pattern; None for any other event."""
        place, text = 0, ""
        for constant, length, is_text in self._steps:
            if not chunk.startswith(constant, place):
                return None
            if is_text:
                try:
                    text, place = _read_json(chunk, place + length)
                except ValueError:
                    return None
            else:
                value = _PLAIN.match(chunk, place + length)
                if value is None:
                    return None
                place = value.end()
        is_whole = isinstance(text, str) and chunk[place:] == self._last
        return self._make(text) if text and is_whole else None


def _continue_call(index: int, arguments: str) -> ToolCallDelta:
    return ToolCallDelta(index, arguments=arguments)
