"""Split a text file into its YAML front matter and its body."""

from collections.abc import Mapping
from typing import Any

from dovetail.data.bounded_yaml import load_yaml
from dovetail.data.shapes import is_mapping
from dovetail.data.text import shorten
from dovetail.errors import ConfigError
from dovetail.lazy import lazy

yaml = lazy("yaml")

LONGEST = 50_000
"""Characters. YAML takes microseconds for each, and a server reads it while other requests wait."""
_MARK = "---"


def split_front_matter(text: str) -> tuple[Mapping[str, Any], str]:
    """Return the mapping between two lines `---` at the beginning, empty if missing, and the text after it.

    Raises:
        ConfigError: the front matter has no end, is too long, is not YAML or not a mapping.
    """
    lines = text.removeprefix("\ufeff").splitlines(keepends=True)
    if not lines or lines[0].rstrip() != _MARK:
        return {}, text
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == _MARK), None)
    if end is None:
        raise ConfigError("the front matter has no end", hint="Close it with a line `---`.")
    between = "".join(lines[1:end])
    if len(between) > LONGEST:
        raise ConfigError(f"the front matter has {len(between)} characters, at most {LONGEST} are read")
    try:
        front: Any = load_yaml(between)
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # also a date that does not exist
        hint = "Put a value that contains `: ` or begins with a special character in quotes."
        raise ConfigError(f"the front matter is not valid YAML: {_describe(error)}", hint=hint) from error
    if front is None:
        front = {}
    if not is_mapping(front):
        raise ConfigError(f"the front matter must be `key: value` lines, not {shorten(front)}")
    return front, "".join(lines[end + 1 :])


def _describe(error: Any) -> str:
    """Describe the error with its line in the file."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return str(error)
    return f"{error.problem} in line {mark.line + 2}"
