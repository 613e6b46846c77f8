"""YAML scalars as PyYAML writes them: plain where safe, else in single quotes, folded at 80 columns."""

import math
import re
from collections.abc import Callable
from typing import Any

WIDTH = 80

_UNPRINTABLE = r"\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff\u2028\u2029\U0010ffff"

# Text that stands without quotes: no indicator at its start, no `: ` or ` #` inside, single spaces, and no
# look-alike of another type (those begin with a sign, a digit or one of the words below).
_PLAIN = re.compile(
    rf"""[^{_UNPRINTABLE}\n\ \-?:,\[\]{{}}\#&*!|>'"%@`+.<~=0-9]
         (?: [^{_UNPRINTABLE}\n:\ \#] | :(?!\ |\Z) | \ (?![\ \#]|\Z) | (?<!\ )\# )* \Z""",
    re.VERBOSE,
)
_PLAIN_AFTER_NUMBER = re.compile(r"[0-9]+ [A-Za-z]*[ghjklmopqrsuvw][A-Za-z0-9 ,.()/-]*(?<! )\Z")
_WORDS = frozenset(
    word
    for base in ("yes", "no", "true", "false", "on", "off", "null")
    for word in (base, base.capitalize(), base.upper())
)

_NEEDS_QUOTES = re.compile(r"""\A(?:\Z|[ #,\[\]{}&*!|>'"%@`]|[-?](?: |\Z))|\n|:(?: |\Z)| \#| \Z""")
_NEEDS_ESCAPES = re.compile(rf"[{_UNPRINTABLE}]|\ \n|\n\ ")
_PIECES = re.compile(r"'| +|\n+|[^ \n']+")


class NotOrdinary(Exception):
    """PyYAML must write this."""


def is_plain(text: str) -> bool:
    """Whether the text surely needs no quotes."""
    if _PLAIN.match(text) is not None:
        return text not in _WORDS
    return _PLAIN_AFTER_NUMBER.match(text) is not None and "  " not in text


def write_text(text: str, column: int, indent: str) -> str:
    """The text as a scalar that begins at `column`; its further lines are indented a step deeper."""
    if is_plain(text):
        return text if column + len(text) <= WIDTH else _fold(text, column, f"\n{indent}  ")
    if text not in _WORDS and not _NEEDS_QUOTES.search(text):
        raise NotOrdinary  # it may or may not look like another type
    if _NEEDS_ESCAPES.search(text):
        raise NotOrdinary
    return _quote(text, column, f"\n{indent}  ")


def _fold(text: str, column: int, new_line: str) -> str:
    """Plain text, broken at the first space after a line is full."""
    words = text.split(" ")
    folded = [words[0]]
    column += len(words[0])
    for word in words[1:]:
        if column > WIDTH:
            folded.append(new_line)
            column = len(new_line) - 1
        else:
            folded.append(" ")
            column += 1
        folded.append(word)
        column += len(word)
    return "".join(folded)


def _quote(text: str, column: int, new_line: str) -> str:
    """Text in single quotes: a quote and a line break are doubled, a full line breaks at a single space."""
    quoted = ["'"]
    column += 1
    for piece in _PIECES.finditer(text):
        part = piece[0]
        if part[0] == "\n":
            part = f"{part}{new_line}"
            column = len(new_line) - 1 - len(part)
        elif part == " " and column > WIDTH and piece.start() > 0 and piece.end() < len(text):
            part = new_line
            column = -1
        elif part == "'":
            part = "''"
        quoted.append(part)
        column += len(part)
    return "".join(quoted) + "'"


def _write_float(value: float) -> str:
    if math.isfinite(value):
        text = repr(value)
        return text.replace("e", ".0e") if "." not in text else text
    return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"


SCALARS: dict[Any, Callable[[Any], str]] = {
    int: str,
    bool: lambda value: "true" if value else "false",
    float: _write_float,
    type(None): lambda value: "null",
}
"""How scalars other than text are written, by their class."""
