"""Words without quotes in an answer: numbers and literals, of JSON, JSON5 and Python."""

import math
import re
from typing import Any

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
