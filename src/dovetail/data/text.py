"""Values as texts, and the texts that errors share: cut values, expected names, nearest names."""

import dataclasses
import enum
import json
import reprlib
from collections.abc import Iterable, Mapping
from typing import Any

from dovetail.data.clean import clean_text
from dovetail.data.known_secrets import hide_known
from dovetail.errors import DovetailError
from dovetail.lazy import lazy

difflib = lazy("difflib")

_MOST_NAMES = 20  # a registry may hold hundreds
_LONGEST_SHOWN = 200
_brief = reprlib.Repr()
_brief.maxlevel = 4
_brief.maxdict = _brief.maxlist = _brief.maxtuple = _brief.maxset = _brief.maxfrozenset = 6
_brief.maxstring = _brief.maxlong = _brief.maxother = 100


def to_text(value: Any) -> str:
    """Return text unchanged, any other value as JSON on one line."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def read_text(value: Any) -> str | None:
    """Return the text of a text, an enum member's value or UTF-8 bytes; None for anything else."""
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
    return cut(text, _LONGEST_SHOWN)


def brief_repr(self: Any) -> str:
    """Return the `repr` of a dataclass: the fields that differ from their defaults, long values cut.

    A class body takes it over with `__repr__ = brief_repr`.
    """
    shown = [
        f"{field.name}={shorten(value)}"
        for field in dataclasses.fields(self)
        if field.repr and not _is_default(value := getattr(self, field.name), field)
    ]
    return f"{type(self).__name__}({', '.join(shown)})"


def _is_default(value: Any, field: "dataclasses.Field[Any]") -> bool:
    factory = field.default_factory
    default = field.default if factory is dataclasses.MISSING else factory()
    # Values of other types may compare in ways of their own, as arrays do.
    return value is default or (type(value) is type(default) and value == default)


def cut(text: str, most: int) -> str:
    """Return the text, cut after `most` characters."""
    return text if len(text) <= most else f"{text[:most]}…"


def explain_choices(what: str, value: Any, choices: Iterable[Any]) -> str:
    """Return `Unknown mode 'fast'. Expected one of: plan, auto.`, for values out of a fixed list."""
    return f"Unknown {what} {shorten(value)}. {expected_one_of(choices)}"


def explain_unknown(what: str, name: Any, names: Iterable[Any]) -> str:
    """Return `Unknown tool 'ad'. Did you mean 'add'?`; if no name is near, the names are listed."""
    known = [str(each) for each in names]
    return f"Unknown {what} {shorten(name)}. {did_you_mean(name, known) or expected_one_of(known)}"


def explain_attribute(kind: str, name: str, meant: Mapping[str, str]) -> str:
    """Return what an `AttributeError` says; `meant` has names of other libraries, and ours for the same."""
    remedy = f". Write `{meant[name]}`." if name in meant else ""
    return f"{kind!r} object has no attribute {name!r}{remedy}"


def did_you_mean(name: Any, names: Iterable[Any], *, most: int = 3, cutoff: float = 0.6) -> str:
    """Return `Did you mean 'a' or 'b'?` with the nearest names; empty if no name is near."""
    near = find_nearest(name, names, most=most, cutoff=cutoff)
    return f"Did you mean {' or '.join(map(repr, near))}?" if near else ""


def expected_one_of(names: Iterable[Any]) -> str:
    """Return `Expected one of: a, b.`; names after the first 20 are left out."""
    known = [str(each) for each in names]
    listed = ", ".join(known[:_MOST_NAMES]) + (", …" if len(known) > _MOST_NAMES else "")
    return f"Expected one of: {listed}." if known else "None are available."


def find_nearest(name: Any, names: Iterable[Any], *, most: int = 1, cutoff: float = 0.6) -> list[str]:
    """Return the names that a misspelt name may mean, the nearest first."""
    return difflib.get_close_matches(str(name)[:_LONGEST_SHOWN], [str(each) for each in names], most, cutoff)


def describe_error(error: BaseException) -> str:
    """Return the type and text of any exception; one whose `__str__` fails is described by its type."""
    name = type(error).__name__
    try:
        text = str(error).strip()
    except Exception:
        text = "its text cannot be read"
    return f"{name}: {text}" if text else name


INTERNAL_ERROR: dict[str, Any] = {
    "type": "internal_error",
    "message": "Internal server error. See the server log.",
}
"""The report of any error that is not ours: its text may hold what must not leave the server."""


def report_error(error: BaseException) -> dict[str, Any]:
    """Return `{type, message, hint?, remedy?}` for clients; the type is the wire name in snake_case."""
    if not isinstance(error, DovetailError):
        return INTERNAL_ERROR
    kind = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in error.wire_name)
    report: dict[str, Any] = {"type": kind.strip("_"), "message": _clean(error.wire_message or error.message)}
    if error.hint:
        report["hint"] = _clean(error.hint)
    if error.remedy:
        report["remedy"] = error.remedy
    return report


def _clean(text: str) -> str:
    return hide_known(clean_text(text))
