"""Paths into a document: dotted `a.b[0].c` and slashed `/a/b/[0]/c`; `[*]` stands for every item."""

import re
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from dovetail.data.layered import LayeredData
from dovetail.data.shapes import is_mapping, is_sequence

_STEP = re.compile(r"\[(-?\d+|\*)\]|([^.\[\]]+)|(\[)")
_MISSING = object()  # told apart from None, which is a value
EVERY = "*"

PathStyle: TypeAlias = Literal["dot", "slash"]
"""How paths are written: `a.b[0].c` or `/a/b/[0]/c`."""


def get_path(data: Any, path: str, default: Any = None) -> Any:
    """Return the value at a dotted or slashed path; `[*]` returns the list of each item's value there.

    >>> get_path({"doors": [{"wood": "oak"}, {"wood": "teak"}]}, "doors[*].wood")
    ['oak', 'teak']
    """
    found = _walk(data.get() if isinstance(data, LayeredData) else data, split_path(path))
    return default if found is _MISSING else found


def write_path(keys: Sequence[str | int], style: PathStyle = "dot", *, wildcard: bool = False) -> str:
    """Return keys and indexes as one path; with `wildcard` each index is `[*]`."""
    steps = [key if isinstance(key, str) else "[*]" if wildcard else f"[{key}]" for key in keys]
    if style == "slash":
        return "/" + "/".join(steps)
    dots = ["" if isinstance(key, int) else "." for key in keys]
    return "".join(map(str.__add__, dots, steps)).removeprefix(".")


def dot_to_slash(path: str) -> str:
    """Return `a.b[0].c` as `/a/b/[0]/c`.

    >>> dot_to_slash("doors[*].wood")
    '/doors/[*]/wood'
    """
    return "".join(f"/{_write_step(step)}" for step in split_path(path))


def slash_to_dot(path: str) -> str:
    """Return `/a/b/[0]/c` as `a.b[0].c`.

    >>> slash_to_dot("/doors/[*]/wood")
    'doors[*].wood'
    """
    text = "".join(
        f".{step}" if isinstance(step, str) and step != EVERY else f"[{step}]" for step in split_path(path)
    )
    return text.removeprefix(".")


def split_path(path: str) -> list[str | int]:
    """Return the steps of a path in either style: names, indexes and `"*"`."""
    if path.startswith("/"):
        parts = [part for part in path.split("/") if part]
        return [_read_step(part[1:-1]) if part[0] == "[" and part[-1] == "]" else part for part in parts]
    return [_read_step(index) if index else name for index, name, _ in _STEP.findall(path)]


def _read_step(text: str) -> str | int:
    return text if text == EVERY else int(text)


def _write_step(step: str | int) -> str:
    return step if isinstance(step, str) and step != EVERY else f"[{step}]"


def _walk(value: Any, steps: list[str | int]) -> Any:
    for position, step in enumerate(steps):
        if step == EVERY:
            return _walk_every(value, steps[position + 1 :])
        value = _take(value, step)
        if value is _MISSING:
            break
    return value


def _walk_every(value: Any, rest: list[str | int]) -> Any:
    if not is_sequence(value):
        return _MISSING
    found = [_walk(item, rest) for item in value]
    return [item for item in found if item is not _MISSING]


def _take(value: Any, step: str | int) -> Any:
    if isinstance(step, int):
        return value[step] if is_sequence(value) and -len(value) <= step < len(value) else _MISSING
    return value[step] if is_mapping(value) and step in value else _MISSING
