"""Where in its text each value of a configuration stands."""

import bisect
import json
import re
from collections.abc import Iterator
from typing import Any

from dovetail.data.bounded_yaml import compose_yaml
from dovetail.lazy import lazy
from dovetail.prompt.source import Source

_yaml = lazy("yaml")

Path = tuple[str | int, ...]
Position = tuple[int, int]
"""Line and column, both from 1."""

_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)
      | (?P<quoted>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
      | (?P<mark>[{}\[\],:])
      | (?P<word>(?:(?!//|/\*)[^\s{}\[\],:"'])+)""",
    re.VERBOSE | re.DOTALL,
)


def find_positions(source: Source) -> dict[Path, Position]:
    """The line and column of every key and list item, by its path; for text that can be parsed."""
    if source.format == "yaml":
        return dict(_walk_yaml(compose_yaml(source.text), ()))
    return _scan_json(source.text)


def find_nearest(positions: dict[Path, Position], path: Path) -> Position | None:
    """The position of a path, or of the nearest thing around it."""
    while path:
        if path in positions:
            return positions[path]
        path = path[:-1]
    return None


def _walk_yaml(node: Any, path: Path) -> Iterator[tuple[Path, Position]]:
    if isinstance(node, _yaml.MappingNode):
        for key, value in node.value:
            inner = (*path, str(key.value))
            yield inner, (key.start_mark.line + 1, key.start_mark.column + 1)
            yield from _walk_yaml(value, inner)
    elif isinstance(node, _yaml.SequenceNode):
        for index, value in enumerate(node.value):
            inner = (*path, index)
            yield inner, (value.start_mark.line + 1, value.start_mark.column + 1)
            yield from _walk_yaml(value, inner)


def _scan_json(text: str) -> dict[Path, Position]:
    """The positions in JSON5, found by its brackets and commas alone."""
    breaks = [match.end() for match in re.finditer("\n", text)]
    found: dict[Path, Position] = {}
    path: list[Any] = []  # the step under way in each open container; None before an object's key
    for token in _TOKEN.finditer(text):
        mark = token[0] if token.lastgroup == "mark" else ""
        if mark in ("]", "}"):
            path.pop()
        elif mark == ",":
            path[-1] = path[-1] + 1 if isinstance(path[-1], int) else None
        elif mark != ":" and token.lastgroup != "skip":
            if path and path[-1] is None:
                path[-1] = _read_key(token[0])
            found.setdefault(tuple(path), _to_position(token.start(), breaks))
            if mark:
                path.append(0 if mark == "[" else None)
    return found


def _read_key(text: str) -> str:
    if text[0] not in "\"'":
        return text
    try:
        return json.loads(f'"{text[1:-1]}"', strict=False)
    except ValueError:  # escapes that only JSON5 has
        return text[1:-1]


def _to_position(offset: int, breaks: list[int]) -> Position:
    line = bisect.bisect_right(breaks, offset)
    return line + 1, offset - (breaks[line - 1] if line else 0) + 1
