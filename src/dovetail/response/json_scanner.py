"""Text in, position by position: the states for space, comments and scalars.

A state is a method that reads from a position of the text and returns where it stopped. Text that cannot be
read without more text (an escape, a quotation mark, a slash) is carried over to the next delta.
"""

import re
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from dovetail.data.paths import PathStyle
from dovetail.response.field_event import Document, FieldEvent
from dovetail.response.json_scalars import NO_VALUE, STOPS, read_cut_word, read_piece, read_word

State = Callable[[str, int], int]
_match_space = re.compile(r"\s+").match
match_word = re.compile(r"""[^\s,:"'{}\[\]/]+""").match
_match_bare_text = re.compile(r"[^,}\]\n]*").match


class Scanner(Document):
    """Runs the states over the text, skips space and comments, and reads the scalar at `key`.

    In strict mode it stops at an error; otherwise it skips the error.
    """

    __slots__ = (
        "_carry",
        "_events",
        "_length",
        "_quotes",
        "_resumed",
        "_state",
        "_stops",
        "_word",
        "is_broken",
        "left_over",
        "strict",
    )

    def __init__(self, root: Any, style: PathStyle) -> None:
        super().__init__(root, style)
        self._state: State = self._ended
        self._resumed: State = self._ended
        self._events: list[FieldEvent] = []
        self._carry = ""
        self._word: list[str] = []
        self._quotes = '"'
        self._stops = STOPS['"']
        self._length = 0
        self.strict = True
        self.is_broken = False
        self.left_over: int | None = None
        """Length of the text left when the document ended; None until then."""

    def feed(self, delta: str, start: int = 0) -> list[FieldEvent]:
        """Read from `start`; return the new events in the order of the document."""
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
        """Wait for more text: the rest is read again with it."""
        self._carry = text[position:]
        return len(text)

    def _skip(self, text: str, position: int) -> int:
        """Skip space or a comment; anything else is an error."""
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
        """Handle an error at the position."""
        if not self.strict:
            return position + 1
        self.is_broken = True
        return self._stop(text, position)

    def _stop(self, text: str, position: int) -> int:
        """End the document before the position."""
        self.left_over = len(text) - position
        self._state = self._ended
        return len(text)

    def _ended(self, text: str, position: int) -> int:
        return len(text)

    @abstractmethod
    def _after(self, text: str, position: int) -> int:
        """Read the text after a value."""

    def _complete(self, value: Any) -> None:
        frame = self.frame
        frame.put(self.key, value)
        self._events.append(FieldEvent(frame, self.key, value))
        self._state = self._after

    def _in_word(self, text: str, position: int) -> int:
        word = match_word(text, position)
        end = word.end() if word else position
        self._word.append(text[position:end])
        if end < len(text):
            self._end_word()
        return end

    def _end_word(self) -> None:
        value = read_word("".join(self._word))
        if value is NO_VALUE:
            self._state = self._in_bare_text
            return
        self._word.clear()
        if self.strict and self.frame.parent is None and self.root.__class__ is list:
            self.strict = False
        self._complete(value)

    def _in_bare_text(self, text: str, position: int) -> int:
        if self.strict:
            return self._break(text, position)
        bare = _match_bare_text(text, position)
        end = bare.end() if bare else position
        self._word.append(text[position:end])
        if end < len(text):
            self._end_bare_text()
        return end

    def _end_bare_text(self) -> None:
        self.text = []
        self._length = 0
        self._say("".join(self._word).strip())
        self._word.clear()
        self._end_string()

    def _end_cut_word(self) -> None:
        word = "".join(self._word)
        value = read_cut_word(word)
        if value is not NO_VALUE:
            self._complete(value)
        elif word[0] not in "+-.0123456789":
            self._end_bare_text()

    def _open_string(self, text: str, position: int, quote: str) -> int:
        following = text[position + 1 : position + 2]
        if following == quote or not following:
            return self._open_quotes(text, position, quote)
        return self._begin_string(quote, position + 1)

    def _open_quotes(self, text: str, position: int, quote: str) -> int:
        """Two marks are an empty string, unless a third one follows and opens a longer text."""
        marks = text[position : position + 3]
        if marks == quote * 3:
            return self._begin_string(marks, position + 3)
        if len(marks) < 3 and marks.strip(quote) == "":
            return self._keep(text, position)
        self._complete("")
        return position + 2

    def _begin_string(self, quotes: str, position: int) -> int:
        self._quotes = quotes
        self._stops = STOPS[quotes[0]]
        self.text = []
        self._length = 0
        self._state = self._in_string
        return position

    def _in_string(self, text: str, position: int) -> int:
        stop = self._stops(text, position)
        if stop is None:
            self._say(text[position:])
            return len(text)
        end = stop.start()
        if text[end] != self._quotes:
            return self._in_escaped_string(text, position)
        if end > position:
            self._say(text[position:end])
        self._end_string()
        return end + 1

    def _in_escaped_string(self, text: str, position: int) -> int:
        said, position, is_closed = read_piece(text, position, self._quotes)
        if said:
            self._say(said)
        if not is_closed:
            return self._keep(text, position)
        self._end_string()
        return position

    def _say(self, delta: str) -> None:
        pieces = self.text
        if pieces is not None:
            self._length += len(delta)
            pieces.append(delta)
            self._events.append(FieldEvent(self.frame, self.key, pieces, delta, self._length))

    def _end_string(self) -> None:
        pieces = self.text or [""]
        if len(pieces) > 1:
            pieces[:] = ["".join(pieces)]
        self.text = None
        self._complete(pieces[0])
