"""Text in, position by position: what every state of the reader needs.

A state is a method that reads from a position of the text and returns where it stopped. What needs more
text to be understood (an escape, a quotation mark, a slash) is carried over to the next delta.
"""

import re
from collections.abc import Callable
from typing import Any

from dovetail.data.paths import PathStyle
from dovetail.response.field_event import Document, FieldEvent

State = Callable[[str, int], int]
_match_space = re.compile(r"\s+").match


class Scanner(Document):
    """Runs the states over the text, and skips what stands between the words: space and comments.

    While it is strict, it stops at a mistake; otherwise it reads over it.
    """

    __slots__ = ("_carry", "_events", "_resumed", "_state", "is_broken", "left_over", "strict")

    def __init__(self, root: Any, style: PathStyle) -> None:
        super().__init__(root, style)
        self._state: State = self._ended
        self._resumed: State = self._ended
        self._events: list[FieldEvent] = []
        self._carry = ""
        self.strict = True
        self.is_broken = False
        self.left_over: int | None = None
        """How much text was left when the document ended; None while it goes on."""

    def feed(self, delta: str, start: int = 0) -> list[FieldEvent]:
        """Read on from `start`; what is complete now, in the order of the document."""
        events: list[FieldEvent] = []
        self._events = events
        text = delta
        position = start
        if self._carry:
            text = self._carry + delta[start:]
            position = 0
            self._carry = ""
        end = len(text)
        while position < end:
            position = self._state(text, position)
        return events

    def _keep(self, text: str, position: int) -> int:
        """Wait for more text: the rest is read again together with it."""
        self._carry = text[position:]
        return len(text)

    def _skip(self, text: str, position: int) -> int:
        """Read over space or a comment; anything else is a mistake."""
        space = _match_space(text, position)
        if space is not None:
            return space.end()
        opening = text[position : position + 2]
        if opening == "/":
            return self._keep(text, position)
        if opening == "//" or opening == "/*":
            self._resumed = self._state
            self._state = self._line_comment if opening == "//" else self._block_comment
            return position + 2
        return self._break(text, position)

    def _line_comment(self, text: str, position: int) -> int:
        end = text.find("\n", position)
        if end < 0:
            return len(text)
        self._state = self._resumed
        return end + 1

    def _block_comment(self, text: str, position: int) -> int:
        end = text.find("*/", position)
        if end >= 0:
            self._state = self._resumed
            return end + 2
        return self._keep(text, len(text) - 1) if text.endswith("*") else len(text)

    def _break(self, text: str, position: int) -> int:
        """There is a mistake at the position."""
        if not self.strict:
            return position + 1
        self.is_broken = True
        return self._stop(text, position)

    def _stop(self, text: str, position: int) -> int:
        """The document ends before the position."""
        self.left_over = len(text) - position
        self._state = self._ended
        return len(text)

    def _ended(self, text: str, position: int) -> int:
        return len(text)
