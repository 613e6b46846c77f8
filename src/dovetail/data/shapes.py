"""Type guards for JSON-like values, whose items are `Any`, and numbers from outside."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeGuard


def is_mapping(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Return whether the value is a mapping."""
    return isinstance(value, (dict, Mapping))  # the common case first


def is_dict(value: object) -> TypeGuard[dict[str, Any]]:
    """Return whether the value is a dict."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Return whether the value is a list."""
    return isinstance(value, list)


def is_tuple(value: object) -> TypeGuard[tuple[Any, ...]]:
    """Return whether the value is a tuple."""
    return isinstance(value, tuple)


def is_sequence(value: object) -> TypeGuard[Sequence[Any]]:
    """Return whether the value is a sequence of items: not text, not bytes."""
    if isinstance(value, (list, tuple)):  # much faster than what follows
        return True
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray))


def is_blank(value: object) -> bool:
    """Return whether the value is None or an empty text, list or dict; 0 and False are values."""
    return value is None or (not value and isinstance(value, (str, list, dict)))


def is_open_set(value: object) -> TypeGuard[set[Any]]:
    """Return whether the value is a mutable set."""
    return isinstance(value, set)


def has_items(value: object) -> TypeGuard[Sequence[Any]]:
    """Return whether the value is a sequence other than text; bytes are a sequence of numbers."""
    return isinstance(value, Sequence) and not isinstance(value, str)


def is_iterable(value: object) -> TypeGuard[Iterable[Any]]:
    """Return whether the value is iterable, as an enum class or a generator is."""
    return isinstance(value, Iterable)


def is_set(value: object) -> TypeGuard[set[Any] | frozenset[Any]]:
    """Return whether the value is a set."""
    return isinstance(value, (set, frozenset))


def is_class(value: object) -> TypeGuard[type[Any]]:
    """Return whether the value is a class of its own: not `Any`, not a generic alias such as `list[int]`."""
    return isinstance(value, type) and value is not Any and not hasattr(value, "__origin__")


LARGEST_COUNT = 10**12
"""Larger than any real count of tokens, bytes or items; databases and metrics hold it without loss."""


def is_number(value: object) -> TypeGuard[int | float]:
    """Return whether the value is a number that can be compared and added: finite, and not a bool."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer with hundreds of digits
        return False


def read_number(text: str) -> float | None:
    """Return the finite number in a text, if any."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def read_count(value: object) -> int:
    """Return a count of tokens, bytes or items; 0 for anything else."""
    if not is_number(value) or value < 0:
        return 0
    return min(int(value), LARGEST_COUNT)
