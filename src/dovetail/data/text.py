"""Values as texts."""

import enum
import json
import reprlib
from typing import Any

_LONGEST_SHOWN = 200
_brief = reprlib.Repr()
_brief.maxlevel = 4
_brief.maxdict = _brief.maxlist = _brief.maxtuple = _brief.maxset = _brief.maxfrozenset = 6
_brief.maxstring = _brief.maxlong = _brief.maxother = 100


def to_text(value: Any) -> str:
    """Text as it is, any other value as JSON on one line."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def read_text(value: Any) -> str | None:
    """The text that a value stands for: an enum member's value, UTF-8 bytes; None if it stands for none."""
    if type(value) is str:
        return value
    if isinstance(value, enum.Enum):
        return str(value.value)
    if isinstance(value, (bytes, bytearray)):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return None
    return str.__str__(value) if isinstance(value, str) else None


def shorten(value: Any) -> str:
    """Return the `repr` of a value for an error message, cut so that a huge value cannot fill it."""
    text = _brief.repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def describe_error(error: BaseException) -> str:
    """Return the type and text of any exception; one whose `__str__` fails is described by its type."""
    name = type(error).__name__
    try:
        text = str(error).strip()
    except Exception:
        text = "its text cannot be read"
    return f"{name}: {text}" if text else name


MASK = "***"
"""The same everywhere, so that a reader knows it and a search finds it."""
