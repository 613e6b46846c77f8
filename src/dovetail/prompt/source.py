"""The text of a prompt configuration: given as such or as a file, read as YAML or as JSON5."""

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from dovetail.data.bounded_yaml import DEEPEST, load_yaml
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
    """A configuration's text, its format and the name it goes by in messages."""

    text: str
    format: Format
    name: str

    def parse(self) -> Any:
        """The data in the text; a mistake in it is told with its line and column."""
        data = _parse_yaml(self) if self.format == "yaml" else _parse_json(self)
        if self.format == "json" and _is_deep(data, DEEPEST):
            raise _make_error(self, _TOO_DEEP, None, None)
        return data


def read_source(path_or_text: str | os.PathLike[str], format: Format, encoding: str | None = UTF_8) -> Source:
    """The configuration at a path, or the text itself.

    A string is taken for a path only when it could be one (short, a single line) and the file is there.
    `encoding` is that of the file; None is the system's own.
    """
    if isinstance(path_or_text, os.PathLike):
        return _read_file(Path(path_or_text), format, encoding)
    if not isinstance(path_or_text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise PromptTypeError(f"A prompt configuration must be text or a path, got {shorten(path_or_text)}.")
    path = _as_file(path_or_text)
    return Source(path_or_text, format, "<text>") if path is None else _read_file(path, format, encoding)


def guess_format(path: Path) -> Format:
    """The format that a file's name tells: JSON for `.json` and `.json5`, else YAML."""
    return "json" if path.suffix.lower() in (".json", ".json5") else "yaml"


def looks_like_path(text: str) -> bool:
    """Whether a text could be a file's path: short and on a single line."""
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
    try:
        text = path.read_text(encoding="utf-8-sig" if encoding and _is_utf_8(encoding) else encoding)
    except OSError as error:
        raise PromptFileError(f"the prompt file {str(path)!r} cannot be read: {error.strerror}") from error
    except LookupError as error:
        raise PromptError(f"Unknown encoding {encoding!r} for the prompt file {str(path)!r}.") from error
    except UnicodeError as error:
        name = "UTF-8" if encoding == UTF_8 else encoding or "the system's encoding"
        hint = 'Name the encoding of the file, for example encoding="gb18030".'
        raise PromptError(f"the prompt file {str(path)!r} is not {name} text: {error}", hint=hint) from error
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
        hint = f"If {shorten(text)} is meant as a path: there is no such file."
    return PromptSyntaxError(problem, source=source.name, line=line, column=column, hint=hint)
