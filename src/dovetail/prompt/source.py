"""Read a prompt configuration from text or a file, as YAML or JSON5, with the positions of its keys."""

import bisect
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from dovetail.data.bounded_yaml import DEEPEST, compose_yaml, load_yaml
from dovetail.data.private_folder import REFUSAL, find_private_path
from dovetail.data.shapes import is_list, is_mapping
from dovetail.data.text import shorten
from dovetail.errors import PromptError, PromptFileError, PromptSyntaxError, PromptTypeError
from dovetail.lazy import lazy

_yaml = lazy("yaml")
_json5 = lazy("json5")

Format = Literal["yaml", "json"]

UTF_8 = "utf-8"
LONGEST_PATH = 1024
_TOO_DEEP = f"it is nested too deeply, at most {DEEPEST} levels are read"
_PATH = re.compile(r"[^{}\[\]:]*\.(ya?ml|json5?)|[^\s{}\[\]:]*/[^\s{}\[\]:]*")
_JSON5_PROBLEM = re.compile(r"<string>:(\d+) (.+) at column (\d+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Source:
    """A configuration's text, its format and its name in error messages."""

    text: str
    format: Format
    name: str

    def parse(self) -> Any:
        """Return the data in the text; raise an error with line and column if it is invalid."""
        data = _parse_yaml(self) if self.format == "yaml" else _parse_json(self)
        if self.format == "json" and _is_deep(data, DEEPEST):
            raise _make_error(self, _TOO_DEEP, None, None)
        return data


def read_source(path_or_text: str | os.PathLike[str], format: Format, encoding: str | None = UTF_8) -> Source:
    """Return the configuration at a path, or the text itself.

    A string counts as a path only if it could be one (short, a single line) and the file exists.
    `encoding` is the encoding of the file; None is the system's default.
    """
    if isinstance(path_or_text, os.PathLike):
        return _read_file(Path(path_or_text), format, encoding)
    if not isinstance(path_or_text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise PromptTypeError(f"A prompt configuration must be text or a path, got {shorten(path_or_text)}.")
    path = _as_file(path_or_text)
    return Source(path_or_text, format, "<text>") if path is None else _read_file(path, format, encoding)


def guess_format(path: Path) -> Format:
    """Return the format for a file name: JSON for `.json` and `.json5`, otherwise YAML."""
    return "json" if path.suffix.lower() in (".json", ".json5") else "yaml"


def looks_like_path(text: str) -> bool:
    """Return whether a text could be a path: short and on a single line."""
    return bool(text) and "\n" not in text and "\0" not in text and len(text) <= LONGEST_PATH


def _as_file(text: str) -> Path | None:
    if not looks_like_path(text):
        return None
    path = Path(text)
    try:
        return path if path.is_file() else None
    except OSError:  # a name that the file system does not take
        return None


def _read_file(path: Path, format: Format, encoding: str | None) -> Source:
    if find_private_path(str(path), Path.cwd(), Path.cwd()) is not None:
        raise PromptFileError(f"Cannot read the prompt file {str(path)!r}: it {REFUSAL}.")
    try:
        text = path.read_text(encoding="utf-8-sig" if encoding and _is_utf_8(encoding) else encoding)
    except OSError as error:
        raise PromptFileError(f"Cannot read the prompt file {str(path)!r}: {error.strerror}.") from error
    except LookupError as error:
        raise PromptError(f"Unknown encoding {encoding!r} for the prompt file {str(path)!r}.") from error
    except UnicodeError as error:
        name = "UTF-8" if encoding == UTF_8 else encoding or "the system's encoding"
        hint = 'Pass the encoding of the file, for example encoding="gb18030".'
        raise PromptError(f"The prompt file {str(path)!r} is not {name} text: {error}.", hint=hint) from error
    return Source(text, format, str(path))


def _is_utf_8(encoding: str) -> bool:
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8")


def _parse_yaml(source: Source) -> Any:
    try:
        return load_yaml(source.text)
    except _yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        what = getattr(error, "problem", None) or str(error)
        line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
        raise _make_error(source, what, line, column) from error
    except (ValueError, RecursionError) as error:  # a date that does not exist; nesting without end
        raise _make_error(source, str(error), None, None) from error


def _parse_json(source: Source) -> Any:
    try:
        return json.loads(source.text)
    except (ValueError, RecursionError):
        return _parse_json5(source)


def _is_deep(value: Any, levels: int) -> bool:
    if not (is_mapping(value) or is_list(value)):
        return False
    items = value.values() if is_mapping(value) else value
    return levels == 0 or any(_is_deep(item, levels - 1) for item in items)


def _parse_json5(source: Source) -> Any:
    if not source.text.strip():
        raise _make_error(source, "the text is empty", None, None)
    try:
        return _json5.loads(source.text)
    except RecursionError as error:
        raise _make_error(source, _TOO_DEEP, None, None) from error
    except ValueError as error:
        told = _JSON5_PROBLEM.fullmatch(str(error))
        line, what, column = (int(told[1]), told[2], int(told[3])) if told else (None, str(error), None)
        raise _make_error(source, what, line, column) from error


def _make_error(source: Source, what: str, line: int | None, column: int | None) -> PromptSyntaxError:
    problem = f"this is not valid {source.format.upper()}: {what}"
    text = source.text.strip()
    hint = None
    if source.name == "<text>" and looks_like_path(text) and _PATH.fullmatch(text):
        hint = f"If {shorten(text)} is meant as a path: the file does not exist."
    return PromptSyntaxError(problem, source=source.name, line=line, column=column, hint=hint)


KeyPath = tuple[str | int, ...]
Position = tuple[int, int]
"""Line and column, both from 1."""

_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)
      | (?P<quoted>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
      | (?P<mark>[{}\[\],:])
      | (?P<word>(?:(?!//|/\*)[^\s{}\[\],:"'])+)""",
    re.VERBOSE | re.DOTALL,
)


def find_positions(source: Source) -> dict[KeyPath, Position]:
    """Return the line and column of every key and list item by its path; the text must be valid."""
    if source.format == "yaml":
        return dict(_walk_yaml(compose_yaml(source.text), ()))
    return _scan_json(source.text)


def find_nearest(positions: dict[KeyPath, Position], path: KeyPath) -> Position | None:
    """Return the position of a path, or of the nearest enclosing one."""
    while path:
        if path in positions:
            return positions[path]
        path = path[:-1]
    return None


def _walk_yaml(node: Any, path: KeyPath) -> Iterator[tuple[KeyPath, Position]]:
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


def _scan_json(text: str) -> dict[KeyPath, Position]:
    """Return the positions in JSON5, found by its brackets and commas alone."""
    breaks = [match.end() for match in re.finditer("\n", text)]
    found: dict[KeyPath, Position] = {}
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
