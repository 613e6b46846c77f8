"""The secrets that this process has met: stored keys, tokens of logins, keys and tokens in the settings.

They are masked in everything that a tool returns, in errors and in logs, whoever asks. A value is masked as
it is written; one that a program has encoded or cut into pieces is not recognized. Files that hold secrets
are read again as soon as they have changed, so that what another process has stored is masked as well.
"""

import os
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from dovetail.data.shapes import is_dict, is_list, is_tuple
from dovetail.errors import ConfigError

_State: TypeAlias = tuple[int, int, int] | None
"""The version of a file: its time, size and number; None while it does not exist."""

MASK = "***"
"""The same everywhere, so that a reader knows it and a search finds it."""
SHORTEST_KNOWN = 12
"""Shorter secrets could be words of a text, such as a password `postgres`."""
_MOST = 1000
"""How many secrets are remembered; tokens of logins are renewed again and again."""
_MOST_FILES = 100

_known: tuple[str, ...] = ()  # the newest first
_files: dict[Path, tuple[Callable[[Path], Iterable[str]], _State]] = {}


def protect(secrets: Iterable[str]) -> None:
    """Mask these texts from now on."""
    global _known
    new = [secret for secret in secrets if len(secret) >= SHORTEST_KNOWN]
    if not set(new) <= set(_known):
        _known = tuple(dict.fromkeys([*new, *_known]))[:_MOST]


def protect_file(path: Path, read: Callable[[Path], Iterable[str]]) -> None:
    """Mask the secrets that `read` finds in a file, now and after each change; it may not exist yet."""
    if len(_files) >= _MOST_FILES:
        _read_changed_files()
        _files.pop(next(iter(_files)), None)
    _files[path.absolute()] = (read, None)


def _read_changed_files() -> None:
    for path, (read, known) in list(_files.items()):
        state = _find_state(path)
        if state == known:
            continue
        _files[path] = (read, state)
        if state is not None:
            try:
                protect(read(path))
            except ConfigError:  # it is being edited: what it held is still masked
                continue


def _find_state(path: Path) -> _State:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def list_known() -> tuple[str, ...]:
    """Return all known secrets."""
    _read_changed_files()
    return _known


def hide_known(text: str) -> str:
    """Return the text with all known secrets masked."""
    _read_changed_files()
    return _hide(text)


def _hide(text: str) -> str:
    for secret in _sort_longest_first(_known):
        if secret in text:
            text = text.replace(secret, MASK)
    return text


@lru_cache(maxsize=1)
def _sort_longest_first(secrets: tuple[str, ...]) -> list[str]:
    """Return the order to mask in: a secret may begin with another one."""
    return sorted(secrets, key=len, reverse=True)


def hide_known_in(value: Any) -> Any:
    """Return JSON data with all known secrets masked in its texts, also in names."""
    _read_changed_files()
    return _hide_in(value) if _known else value


def _hide_in(value: Any) -> Any:
    if isinstance(value, str):
        return _hide(value)
    if is_dict(value):
        return {_hide_in(name): _hide_in(item) for name, item in value.items()}
    if is_list(value):
        return [_hide_in(item) for item in value]
    if is_tuple(value):
        return tuple(_hide_in(item) for item in value)
    return value
