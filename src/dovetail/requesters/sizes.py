"""How long an answer may be in characters: an answer without an end is ended here, by us.

A model in a loop, or a server that never stops, would otherwise fill memory and database.
"""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dovetail.events.delta import (
    Delta,
    FinishDelta,
    ProviderPartDelta,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
)
from dovetail.settings.limits import AnswerLimits

logger = logging.getLogger(__name__)

MOST_PART_CHARACTERS = 40_000_000
"""Characters of the parts of one answer that only its provider can read, such as pictures that it made."""
_LEAST_PART = 1000
"""What each of these parts counts at least: thousands of empty ones cost as much as long ones."""


@dataclass(frozen=True, slots=True)
class _Measure:
    """A kind of text of an answer, the setting that limits it, and how many characters that allows."""

    name: str
    setting: str
    most: int

    def write_notice(self) -> str:
        """Return what is said about an answer that was cut off here."""
        raise_it = f" Raise {self.setting} if answers must be longer." if self.setting else ""
        return f"The answer was cut off after {self.most:,} characters of {self.name}.{raise_it}"


class Scale:
    """Counts the characters of one answer; `end` ends it once it is longer than it may be."""

    __slots__ = ("_left", "_measures", "end")

    def __init__(self, sizes: AnswerLimits) -> None:
        self.end: FinishDelta | None = None
        self._measures: Mapping[type, _Measure] = {
            TextDelta: _Measure("text", "limits.answer.text", sizes.text),
            ReasoningDelta: _Measure("reasoning", "limits.answer.reasoning", sizes.reasoning),
            ToolCallDelta: _Measure("arguments", "limits.answer.arguments", sizes.arguments),
            ProviderPartDelta: _Measure("parts of its provider", "", MOST_PART_CHARACTERS),
        }
        self._left = {kind: measure.most for kind, measure in self._measures.items()}

    def weigh(self, delta: Delta) -> Delta | None:
        """Return the delta, or the part of it that still fits; None if nothing of it does."""
        kind = type(delta)
        if kind not in self._left:
            return delta
        size = _count(delta)
        left = self._left[kind]
        self._left[kind] = left - max(size, 1)  # pieces without a text have no end either
        if size <= left and left > 0:
            return delta
        notice = self._measures[kind].write_notice()
        logger.warning("%s", notice)
        self.end = FinishDelta(reason="length", notice=notice)
        return _cut(delta, left)


def _count(delta: Any) -> int:
    if isinstance(delta, ToolCallDelta):
        return len(delta.arguments)
    if isinstance(delta, ProviderPartDelta):
        return max(len(json.dumps(delta.data, default=str)), _LEAST_PART)
    return len(delta.text)


def _cut(delta: Any, length: int) -> Delta | None:
    if length <= 0 or isinstance(delta, ProviderPartDelta):
        return None
    if isinstance(delta, ToolCallDelta):
        return replace(delta, arguments=delta.arguments[:length])
    return type(delta)(delta.text[:length])
