"""The leaves of a document: strings with their deltas, numbers, literals, text without quotes."""

import math
import re
from abc import abstractmethod
from typing import Any

from dovetail.data.paths import PathStyle
from dovetail.response.field_event import FieldEvent
from dovetail.response.json_scanner import Scanner

STOPS = {quote: re.compile(rf"[{quote}\\]").search for quote in "\"'"}
"""Where text in these quotes may end or hold an escape."""

_CODE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))")
_LOW_SURROGATE = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_CUT_CODE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3}|x[0-9a-fA-F]?)\Z")
_CUT_LOW_SURROGATE = re.compile(r"(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?)?)?\Z")
_SIMPLE = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "0": "\0",
    **{char: char for char in "\"'/\\"},
    "\n": "",  # the line goes on
}
_REPLACEMENT = "\ufffd"


def read_piece(text: str, position: int, quotes: str) -> tuple[str, int, bool]:
    """Decode from `position` to the closing quotes, or as far as the text is certain.

    Gives the decoded text, where it stopped, and whether the quotes were closed there; `quotes` is one
    quotation mark or three. What is left of the text then needs more text to be understood.
    """
    search = STOPS[quotes[0]]
    pieces: list[str] = []
    while stop := search(text, position):
        at = stop.start()
        pieces.append(text[position:at])
        if text[at] == "\\":
            decoded, position = _read_escape(text, at)
            if position == at:
                return "".join(pieces), at, False
            pieces.append(decoded)
        elif text.startswith(quotes, at):
            return "".join(pieces), at + len(quotes), True
        elif len(text) - at < len(quotes) and quotes.startswith(text[at:]):
            return "".join(pieces), at, False
        else:
            pieces.append(quotes[0])
            position = at + 1
    pieces.append(text[position:])
    return "".join(pieces), len(text), False


def _read_escape(text: str, at: int) -> tuple[str, int]:
    """What the escape at `at` stands for and where it ends; ends where it begins if it is cut off."""
    char = text[at + 1 : at + 2]
    simple = _SIMPLE.get(char)
    if simple is not None:
        return simple, at + 2
    if not char or _CUT_CODE.match(text, at):
        return "", at
    code = _CODE.match(text, at)
    if code is None:
        return "\\", at + 1  # no escape of ours: a backslash the model meant as such
    return _read_code(text, int(code[1] or code[2], 16), at, code.end())


def _read_code(text: str, code: int, at: int, end: int) -> tuple[str, int]:
    if not 0xD800 <= code <= 0xDFFF:
        return chr(code), end
    if code >= 0xDC00:
        return _REPLACEMENT, end
    low = _LOW_SURROGATE.match(text, end)
    if low:
        return chr(0x10000 + ((code - 0xD800) << 10) + int(low[1], 16) - 0xDC00), low.end()
    if _CUT_LOW_SURROGATE.match(text, end):
        return "", at
    return _REPLACEMENT, end


NO_VALUE = object()
"""The word is neither a number nor a literal."""

_LITERALS: dict[str, Any] = {
    "true": True,
    "false": False,
    "null": None,
    "True": True,
    "False": False,
    "None": None,
    "NaN": math.nan,
    "Infinity": math.inf,
    "+Infinity": math.inf,
    "-Infinity": -math.inf,
}
_INTEGER = re.compile(r"[+-]?[0-9]+")
_FLOAT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_HEX = re.compile(r"[+-]?0[xX][0-9a-fA-F]+")
_CUT_NUMBER = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(?:[eE][+-]?)?")


def read_word(word: str) -> Any:
    """The value of a complete word, or NO_VALUE."""
    if word in _LITERALS:
        return _LITERALS[word]
    try:
        if _INTEGER.fullmatch(word):
            return int(word)
        if _FLOAT.fullmatch(word):
            return float(word)
        if _HEX.fullmatch(word):
            return int(word, 16)
    except ValueError:  # more digits than Python turns into a number
        return NO_VALUE
    return NO_VALUE


def read_cut_word(word: str) -> Any:
    """The value of a word that the end of the text may have cut off, or NO_VALUE."""
    value = read_word(word)
    if value is not NO_VALUE:
        return value
    if number := _CUT_NUMBER.fullmatch(word):
        return read_word(number[1])
    return next((literal for name, literal in _LITERALS.items() if name.startswith(word)), NO_VALUE)


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
