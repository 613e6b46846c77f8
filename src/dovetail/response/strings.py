"""Quoted text with escapes, decoded piece by piece."""

import re
from typing import NamedTuple

STOPS = {quote: re.compile(rf"[{quote}\\]").search for quote in "\"'"}
"""Where text in these quotes may end or hold an escape."""

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|.))", re.DOTALL)
_LOW_SURROGATE = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_CUT_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3}|x[0-9a-fA-F]?|\r)?\Z")
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
    **dict.fromkeys(("\n", "\r", "\r\n"), ""),  # a line that goes on
}
_REPLACEMENT = "\ufffd"


class Piece(NamedTuple):
    """Decoded text, where reading stopped, and whether the quotes were closed there."""

    text: str
    position: int
    closed: bool


def read_piece(text: str, position: int, quotes: str) -> Piece:
    """Decode from `position` to the closing quotes, or as far as the text is certain.

    `quotes` is one quotation mark or three. What is left of the text after the returned position
    needs more text to be understood.
    """
    search = STOPS[quotes[0]]
    pieces: list[str] = []
    while stop := search(text, position):
        at = stop.start()
        pieces.append(text[position:at])
        if text[at] == "\\":
            decoded, position = _read_escape(text, at)
            if position == at:
                return Piece("".join(pieces), at, False)
            pieces.append(decoded)
        elif text.startswith(quotes, at):
            return Piece("".join(pieces), at + len(quotes), True)
        elif len(text) - at < len(quotes) and quotes.startswith(text[at:]):
            return Piece("".join(pieces), at, False)
        else:
            pieces.append(quotes[0])
            position = at + 1
    pieces.append(text[position:])
    return Piece("".join(pieces), len(text), False)


def _read_escape(text: str, at: int) -> tuple[str, int]:
    """What the escape at `at` stands for and where it ends; ends where it begins if it is cut off."""
    if _CUT_ESCAPE.match(text, at):
        return "", at
    escape = _ESCAPE.match(text, at)
    code = escape and (escape[1] or escape[2])
    if escape is None or (code is None and escape[3] not in _SIMPLE):
        return "\\", at + 1  # no escape of ours: a backslash the model meant as such
    if code is None:
        return _SIMPLE[escape[3]], escape.end()
    return _read_code(text, int(code, 16), at, escape.end())


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
