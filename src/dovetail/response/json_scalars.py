"""The text of scalars and its meaning: escapes in strings, numbers, literals."""

import math
import re
from typing import Any

STOPS = {quote: re.compile(rf"[{quote}\\]").search for quote in "\"'"}
"""Positions where text in these quotes may end or has an escape."""

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

    Return the decoded text, the position where it stopped, and whether the quotes were closed there; `quotes`
    is one quotation mark or three. The rest of the text needs more text to be decoded.
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
    """Return the decoded escape at `at` and its end; the end equals `at` if the escape is cut off."""
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
    """Return the value of a complete word, or NO_VALUE."""
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
    """Return the value of a word that the end of the text may have cut off, or NO_VALUE."""
    value = read_word(word)
    if value is not NO_VALUE:
        return value
    if number := _CUT_NUMBER.fullmatch(word):
        return read_word(number[1])
    return next((literal for name, literal in _LITERALS.items() if name.startswith(word)), NO_VALUE)
