"""The leaves of a document: strings with their deltas, numbers, literals, text without quotes."""

import re
from abc import abstractmethod
from typing import Any

from dovetail.response.instant import Instant, PathStyle
from dovetail.response.scanner import Scanner
from dovetail.response.strings import STOPS, read_piece
from dovetail.response.words import NO_VALUE, read_cut_word, read_word

match_word = re.compile(r"""[^\s,:"'{}\[\]/]+""").match
_match_bare_text = re.compile(r"[^,}\]\n]*").match


class LeafReader(Scanner):
    """Reads values that hold no others; the child at `key` of the open container."""

    __slots__ = ("_length", "_quotes", "_stops", "_word")

    def __init__(self, root: Any, style: PathStyle) -> None:
        super().__init__(root, style)
        self._word: list[str] = []
        self._quotes = '"'
        self._stops = STOPS['"']
        self._length = 0

    @abstractmethod
    def _after(self, text: str, position: int) -> int:
        """A value has ended."""

    def _complete(self, value: Any) -> None:
        frame = self.frame
        frame.put(self.key, value)
        self._events.append(Instant(frame, self.key, value))
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
            self._events.append(Instant(self.frame, self.key, pieces, delta, self._length))

    def _end_string(self) -> None:
        pieces = self.text or [""]
        if len(pieces) > 1:
            pieces[:] = ["".join(pieces)]
        self.text = None
        self._complete(pieces[0])
