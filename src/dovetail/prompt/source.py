"""The text of a prompt configuration: given as such or as a file, read as YAML or as JSON5."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from dovetail.data.bounded_yaml import load_yaml
from dovetail.errors import PromptError, PromptSyntaxError
from dovetail.lazy import lazy

_yaml = lazy("yaml")
_json5 = lazy("json5")

Format = Literal["yaml", "json"]

LONGEST_PATH = 1024
_JSON5_PROBLEM = re.compile(r"<string>:(\d+) (.+) at column (\d+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Source:
    """A configuration's text, its format and the name it goes by in messages."""

    text: str
    format: Format
    name: str

    def parse(self) -> Any:
        """The data in the text; a mistake in it is told with its line and column."""
        return _parse_yaml(self) if self.format == "yaml" else _parse_json(self)


def read_source(path_or_text: str | Path, format: Format) -> Source:
    """The configuration at a path, or the text itself.

    A string is taken for a path only when it could be one (short, a single line) and the file is there.
    """
    if isinstance(path_or_text, Path):
        return _read_file(path_or_text, format)
    path = _as_file(path_or_text)
    return Source(path_or_text, format, "<text>") if path is None else _read_file(path, format)


def guess_format(path: Path) -> Format:
    """The format that a file's name tells: JSON for `.json` and `.json5`, else YAML."""
    return "json" if path.suffix.lower() in (".json", ".json5") else "yaml"


def _as_file(text: str) -> Path | None:
    if not text or "\n" in text or "\0" in text or len(text) > LONGEST_PATH:
        return None
    path = Path(text)
    try:
        return path if path.is_file() else None
    except OSError:  # a name that the file system does not take
        return None


def _read_file(path: Path, format: Format) -> Source:
    try:
        return Source(path.read_text(encoding="utf-8-sig"), format, str(path))
    except OSError as error:
        raise PromptError(f"the prompt file {str(path)!r} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise PromptError(f"the prompt file {str(path)!r} is not UTF-8 text: {error}") from error


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


def _parse_json5(source: Source) -> Any:
    if not source.text.strip():
        return None
    try:
        return _json5.loads(source.text)
    except (ValueError, RecursionError) as error:
        told = _JSON5_PROBLEM.fullmatch(str(error))
        line, what, column = (int(told[1]), told[2], int(told[3])) if told else (None, str(error), None)
        raise _make_error(source, what, line, column) from error


def _make_error(source: Source, what: str, line: int | None, column: int | None) -> PromptSyntaxError:
    problem = f"this is not valid {source.format.upper()}: {what}"
    return PromptSyntaxError(problem, source=source.name, line=line, column=column)
