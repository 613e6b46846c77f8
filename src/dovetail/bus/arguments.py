"""The arguments of a call as rules match them: no other way to write a path gets around a rule.

`./secrets/key`, `docs/../secrets/key`, the absolute path and a link to it all name one file. A rule that
forbids or asks speaks of a call if any way to write the argument fits its pattern. A rule that allows speaks
of it only if the argument fits as it was given and, where it leads through `..` or a link, also as the place
it leads to.
"""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dovetail.bus.pattern import matches_whole

_LONGEST_PATH = 4096


def to_canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spaces: equal values have equal texts."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)


class Arguments:
    """The arguments of one call; `defaults` are what its tool takes for those that are left out, if known.

    Relative paths start at `root`, the workspace; without one at the current folder.
    """

    def __init__(
        self, given: Mapping[str, Any], defaults: Mapping[str, Any] | None = None, root: Path | None = None
    ) -> None:
        self._given = given
        self._defaults = defaults or {}
        self._root = root
        self._spellings: dict[str, tuple[str, ...]] = {}

    def find_allow_mismatch(self, name: str, pattern: str) -> str | None:
        """Why a rule that allows does not speak of the call, if it does not."""
        value = self._given.get(name)
        if value is None:
            value = self._defaults.get(name)
        if value is None and name not in self._given:
            return f"argument {name!r} is not given"
        if not matches_whole(pattern, _to_text(value)):
            return f"argument {name!r} does not match {pattern!r}"
        real = self._find_real(value) if isinstance(value, str) else None
        if real is not None and not matches_whole(pattern, real):
            return f"argument {name!r} leads to {real!r}, which does not match {pattern!r}"
        return None

    def find_other_mismatch(self, name: str, pattern: str) -> str | None:
        """Why a rule that forbids or asks does not speak of the call, if it does not."""
        if name not in self._spellings:
            self._spellings[name] = tuple(dict.fromkeys(self._spell(name)))
        if not self._spellings[name]:
            return f"argument {name!r} is not given"
        if any(matches_whole(pattern, text) for text in self._spellings[name]):
            return None
        given = "does not match" if name in self._given else "is not given and its default does not match"
        return f"argument {name!r} {given} {pattern!r}"

    def _spell(self, name: str) -> Iterator[str]:
        """All texts that stand for an argument; left out, null or empty it stands for its default."""
        if name not in self._given and name not in self._defaults:
            return
        value = self._given.get(name)
        if name in self._given:
            yield _to_text(value)
        if value is None or value == "":
            value = self._defaults.get(name) or ""
            yield _to_text(value)
        if isinstance(value, str) and (place := self._resolve(value)) is not None:
            yield from _with_slash(os.path.normpath(value))
            yield from _with_slash(place)
            yield from _with_slash(os.path.relpath(place, self._get_root()))

    def _find_real(self, value: str) -> str | None:
        """The place that a path leads to, where that is not the place it names."""
        if "://" in value or (place := self._resolve(value)) is None:
            return None
        root = self._get_root()
        named = os.path.join(root, value)
        if ".." not in value.split("/") and place == os.path.normpath(named):
            return None
        return place if os.path.isabs(value) else os.path.relpath(place, root)

    def _resolve(self, value: str) -> str | None:
        if len(value) > _LONGEST_PATH:
            return None
        try:
            return os.path.realpath(os.path.join(self._get_root(), value))
        except (OSError, ValueError):  # a null byte
            return None

    def _get_root(self) -> str:
        return os.path.realpath(self._root or ".")


def _to_text(value: Any) -> str:
    return value if isinstance(value, str) else to_canonical_json(value)


def _with_slash(path: str) -> Iterator[str]:
    """A path, and the same as a folder: `secrets/.*` speaks of `secrets`, too."""
    yield path
    yield f"{path}/"
