"""Write values as the YAML text of a prompt block: exactly PyYAML's output, mostly without PyYAML.

Blocks of ordinary text and numbers are written here, many times faster. A block with anything else (text that
needs escapes, odd keys, other classes) goes to PyYAML as a whole; a property test keeps the two equal.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dovetail.data.sanitize import PLAIN, sanitize
from dovetail.lazy import lazy
from dovetail.schema.json_data import to_json_data

_yaml = lazy("yaml")

WIDTH = 80
LONGEST_KEY = 100

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


def to_block_text(value: Any) -> str:
    """Return a container as YAML with sorted keys, anything else as its plain text."""
    if type(value) in PLAIN:
        return str(value)
    writer = _WRITERS.get(type(value))
    if writer is not None:
        try:
            lines: list[str] = []
            writer(value, "", "", lines)
            return "\n".join(lines) + "\n"
        except (NotOrdinary, RecursionError):
            pass
    plain = sanitize(value)
    return dump_yaml(plain) if isinstance(plain, (dict, list, tuple, set)) else str(plain)


def dump_yaml(plain: Any) -> str:
    """Return plain data as YAML: sorted keys, Unicode unescaped."""
    try:
        return _yaml.safe_dump(plain, allow_unicode=True, sort_keys=True)
    except _yaml.representer.RepresenterError:  # YAML knows no subclasses of text and numbers
        return _yaml.safe_dump(to_json_data(plain), allow_unicode=True, sort_keys=True)


# A writer takes a container, what already stands on its first line, and the indent of its further lines.
_Writer = Callable[[Any, str, str, list[str]], None]


def _write_mapping(mapping: Mapping[Any, Any], first: str, indent: str, lines: list[str]) -> None:
    if not mapping:
        lines.append(f"{first}{{}}")
    for key, value in _sort(mapping):
        if type(value) is str:
            lines.append(f"{first}{key}: {write_text(value, len(first) + len(key) + 2, indent)}")
        elif type(value) in SCALARS:
            lines.append(f"{first}{key}: {SCALARS[type(value)](value)}")
        else:
            _write_below(f"{first}{key}:", value, indent, lines)
        first = indent


def _sort(mapping: Mapping[Any, Any]) -> list[tuple[str, Any]]:
    if not all(type(key) is str and len(key) <= LONGEST_KEY and is_plain(key) for key in mapping):
        raise NotOrdinary
    return [(key, mapping[key]) for key in sorted(mapping)]


def _write_below(head: str, value: Any, indent: str, lines: list[str]) -> None:
    """Write a container as the value of a key: on the lines below, a list without extra indent."""
    writer = _find_writer(value)
    if not value:
        writer(value, f"{head} ", indent, lines)
        return
    lines.append(head)
    deeper = f"{indent}  " if writer is _write_mapping else indent
    writer(value, deeper, deeper, lines)


def _write_sequence(items: Sequence[Any], first: str, indent: str, lines: list[str]) -> None:
    if not items:
        lines.append(f"{first}[]")
    for item in items:
        if type(item) is str:
            lines.append(f"{first}- {write_text(item, len(first) + 2, indent)}")
        elif type(item) in SCALARS:
            lines.append(f"{first}- {SCALARS[type(item)](item)}")
        else:
            _find_writer(item)(item, f"{first}- ", f"{indent}  ", lines)
        first = indent


def _find_writer(value: Any) -> _Writer:
    writer = _WRITERS.get(type(value))
    if writer is None:
        raise NotOrdinary
    return writer


_WRITERS: dict[Any, _Writer] = {dict: _write_mapping, list: _write_sequence, tuple: _write_sequence}


class NotOrdinary(Exception):
    """The value must be written by PyYAML."""


def is_plain(text: str) -> bool:
    """Return whether the text certainly needs no quotes."""
    if _PLAIN.match(text) is not None:
        return text not in _WORDS
    return _PLAIN_AFTER_NUMBER.match(text) is not None and "  " not in text


def write_text(text: str, column: int, indent: str) -> str:
    """Return the text as a scalar that begins at `column`; further lines are indented one level deeper."""
    if is_plain(text):
        return text if column + len(text) <= WIDTH else _fold(text, column, f"\n{indent}  ")
    if text not in _WORDS and not _NEEDS_QUOTES.search(text):
        raise NotOrdinary  # it may or may not look like another type
    if _NEEDS_ESCAPES.search(text):
        raise NotOrdinary
    return _quote(text, column, f"\n{indent}  ")


def _fold(text: str, column: int, new_line: str) -> str:
    """Return plain text, broken at the first space after a line is full."""
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
    """Return text in single quotes: quotes and line breaks doubled, a full line broken at a single space."""
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
"""Writers of scalars other than text, by class."""
