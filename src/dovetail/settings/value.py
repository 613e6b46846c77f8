"""The types of settings: what a value may be, how that is described, and the check of a value.

A type is an annotation: a plain one (`int`, `str | None`, `Literal["text", "json"]`, `Mapping[str, Any]`),
one with a `Rule`, or a class that reads itself, as sections do.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

from dovetail.data.shapes import is_mapping, is_number, is_sequence
from dovetail.data.template import fill_required
from dovetail.data.text import explain_choices, shorten
from dovetail.errors import ConfigError

_WRONG = object()


class Rule:
    """What a value must be in addition to its type; `expected` completes "must be …".

    `prepare` turns another accepted form into the one that is checked. With `fills`, `${NAME}` in a text
    stands for an environment variable.
    """

    # Not a dataclass: this module is loaded by every program, and dataclasses take milliseconds to make.
    def __init__(
        self,
        expected: str,
        holds: Callable[[Any], bool] = lambda value: True,
        prepare: Callable[[Any], Any] = lambda value: value,
        *,
        fills: bool = False,
    ) -> None:
        self.expected = expected
        self.holds = holds
        self.prepare = prepare
        self.fills = fills


SECRET = Rule("text", fills=True)
"""Marks a value that is never shown."""


def _split(value: Any) -> Any:
    """The items of a text with commas between them; anything else as it is."""
    items = value.split(",") if isinstance(value, str) else value
    if not is_sequence(items):
        return items
    stripped = [item.strip() if isinstance(item, str) else item for item in items]
    return [item for item in stripped if item != ""]


Secret: TypeAlias = Annotated[str, SECRET]
Address: TypeAlias = Annotated[str, Rule("text", fills=True)]
Count: TypeAlias = Annotated[int, Rule("a whole number that is not negative", lambda number: number >= 0)]
Turns: TypeAlias = Annotated[int, Rule("a positive whole number", lambda number: number > 0)]
Seconds: TypeAlias = Annotated[
    float, Rule("a finite number that is not negative", lambda number: number >= 0)
]
Money: TypeAlias = Annotated[
    float, Rule("an amount of money that is not negative", lambda amount: amount >= 0)
]
Limit: TypeAlias = Annotated[float, Rule("a number of seconds above 0", lambda number: number > 0)]
Names: TypeAlias = Annotated[Sequence[str], Rule("a list of texts, or text with commas", prepare=_split)]
ToolNames: TypeAlias = Annotated[Sequence[str], Rule("a list of tool names")]
Table: TypeAlias = Mapping[str, Any]


def check_value(value: Any, hint: Any, place: str) -> Any:
    """Return a value as its type wants it.

    Raises:
        ConfigError: it is of another type; the message names the key, the value and the type.
    """
    found = _convert(value, hint, place)
    if found is not _WRONG:
        return found
    choices = _find_choices(hint)
    if choices and isinstance(value, str):
        raise ConfigError(explain_choices(place, value, choices))
    shown = type(value).__name__ if is_secret(hint) else shorten(value)
    raise ConfigError(f"{place} must be {describe_type(hint)}, got {shown}.")


def fill_variables(value: Any, place: str) -> Any:
    """Return a setting with `${NAME}` filled from the environment, at every depth; `place` is its key.

    Raises:
        ConfigError: the environment has no such variable.
    """

    def find(name: str) -> str:
        found = os.environ.get(name)
        if found is None:
            raise ConfigError(f"Environment variable {name} is not set, but the setting {place!r} uses it.")
        return found

    return fill_required(value, find)


def read_value_text(text: str, hint: Any) -> Any:
    """Return the number, or the table in JSON, that a text stands for if a key wants it; or the text."""
    base = _find_base(hint)
    read = _READ.get(get_origin(base) or base)
    try:
        return text if read is None else read(text)
    except ValueError:
        return text


def is_secret(hint: Any) -> bool:
    """Whether values of the type are never shown."""
    return SECRET in get_args(hint) or any(is_secret(each) for each in get_args(hint) if get_args(each))


def accepts_none(hint: Any) -> bool:
    """Whether None is a value of the type; elsewhere it stands for the default."""
    return hint is Any or NoneType in get_args(hint)


def describe_type(hint: Any) -> str:
    """Return a type as it completes "must be …"."""
    rule = next((each for each in get_args(hint) if isinstance(each, Rule)), None)
    if rule is not None:
        return rule.expected
    if get_origin(hint) in (Union, UnionType):
        return " or ".join(describe_type(each) for each in get_args(hint) if each is not NoneType)
    if choices := _find_choices(hint):
        return f"one of: {', '.join(map(str, choices))}"
    return _DESCRIPTIONS.get(get_origin(hint) or hint, "a table")


def join(place: str, name: Any) -> str:
    """Return a dotted key."""
    return f"{place}.{name}" if place else str(name)


def _find_base(hint: Any) -> Any:
    """The type below `Annotated` and next to None."""
    if get_origin(hint) in (Annotated, Union, UnionType):
        return _find_base(next(each for each in get_args(hint) if each is not NoneType))
    return hint


def _find_choices(hint: Any) -> tuple[Any, ...]:
    base = _find_base(hint)
    return get_args(base) if get_origin(base) is Literal else ()


def _convert(value: Any, hint: Any, place: str) -> Any:
    """The value as the type wants it, or `_WRONG`."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _apply_rules(value, parts, place)
    if origin in (Union, UnionType):
        tried = (_convert(value, each, place) for each in parts)
        return next((found for found in tried if found is not _WRONG), _WRONG)
    if origin is Literal:
        return value if value in parts else _WRONG
    if hasattr(hint, "read"):
        return hint.read(value, place)
    if origin is Mapping:
        return _convert_table(value, parts[1], place)
    return _PLAIN[origin or hint](value)


def _apply_rules(value: Any, parts: tuple[Any, ...], place: str) -> Any:
    rules: Sequence[Rule] = parts[1:]
    for rule in rules:
        value = rule.prepare(fill_variables(value, place) if rule.fills else value)
    found = _convert(value, parts[0], place)
    return found if found is not _WRONG and all(rule.holds(found) for rule in rules) else _WRONG


def _convert_table(value: Any, hint: Any, place: str) -> Any:
    if not is_mapping(value):
        return _WRONG
    return {str(name): check_value(each, hint, join(place, name)) for name, each in value.items()}


def _convert_sequence(value: Any) -> Any:
    if isinstance(value, list | tuple | set | frozenset):
        items: list[Any] = [*value]
        return items if all(isinstance(item, str) for item in items) else _WRONG
    return _WRONG


_Convert: TypeAlias = Callable[[Any], Any]

_PLAIN: Mapping[Any, _Convert] = {
    Any: lambda value: value,
    NoneType: lambda value: None if value is None else _WRONG,
    bool: lambda value: value if isinstance(value, bool) else _WRONG,
    int: lambda value: value if is_number(value) and isinstance(value, int) else _WRONG,
    float: lambda value: value if is_number(value) else _WRONG,
    str: lambda value: value if isinstance(value, str) else _WRONG,
    Sequence: _convert_sequence,
}
_READ: Mapping[Any, _Convert] = {int: int, float: float, Mapping: json.loads}
_DESCRIPTIONS: Mapping[Any, str] = {
    Any: "any value",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    Sequence: "a list of texts",
}
