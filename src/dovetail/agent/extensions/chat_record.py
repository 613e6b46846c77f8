"""What a chat session keeps of a request and its answer: whole slots, or values at paths."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from dovetail.data.paths import dot_to_slash, get_path, slash_to_dot
from dovetail.data.sanitize import sanitize
from dovetail.errors import ConfigError
from dovetail.lazy import lazy

RecordMode: TypeAlias = Literal["first", "all"]
RecordPath: TypeAlias = str | tuple[str, str | None]
"""A dotted or slashed path, its first step the slot; or the slot and the path inside of it."""

RecordPaths: TypeAlias = RecordPath | list[RecordPath] | list[str]

_yaml = lazy("yaml")
_MISSING = object()


def read_paths(paths: RecordPaths) -> list[str]:
    """Paths as they are kept: dotted, each once."""
    several = paths if isinstance(paths, list) else [paths]
    return list(dict.fromkeys(_read_path(path) for path in several))


def write_paths(paths: Sequence[str], style: Literal["dot", "slash"]) -> list[str]:
    """The kept paths in a style."""
    return [dot_to_slash(path) for path in paths] if style == "slash" else list(paths)


def check_mode(mode: str) -> RecordMode:
    """The mode, if there is such a one."""
    if mode == "first" or mode == "all":
        return mode
    raise ConfigError(f"no record mode {mode!r}; there are: first, all")


def write_record(data: Any, paths: Sequence[str], mode: str) -> str | None:
    """The values at the paths as one text: the first that is there, or all of them; None if none is."""
    found: dict[str, Any] = {}
    for path in paths:
        value = get_path(data, path, _MISSING)
        if value is not _MISSING and value is not None:
            found[path] = value
            if check_mode(mode) == "first":
                break
    if not found:
        return None
    return write_value(next(iter(found.values())) if len(found) == 1 else found)


def write_value(value: Any) -> str:
    """Text as it is, everything else as YAML."""
    if isinstance(value, str):
        return value
    return _yaml.safe_dump(sanitize(value), allow_unicode=True, sort_keys=False).strip()


def _read_path(path: RecordPath) -> str:
    if isinstance(path, tuple):
        slot, inside = path
        path = f"{slot}.{slash_to_dot(inside) if inside.startswith('/') else inside}" if inside else slot
    return slash_to_dot(path) if path.startswith("/") else path
