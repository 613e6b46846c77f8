"""The extension folders and tools that the environment excludes (rules F60 to F65)."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

EXCLUDED_BY_DEFAULT = frozenset({"example"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusion:
    """Names of excluded folders and tools; case does not matter."""

    extensions: frozenset[str] = EXCLUDED_BY_DEFAULT
    tools: frozenset[str] = frozenset()

    def has_extension(self, name: str) -> bool:
        """Return whether this folder is excluded."""
        return name.casefold() in self.extensions

    def has_tool(self, name: str) -> bool:
        """Return whether this tool is excluded."""
        return name.casefold() in self.tools


def read_exclusion(environment: Mapping[str, str] | None = None) -> Exclusion:
    """Read `EXTENSION_EXCLUDED_EXTENSIONS` and `EXTENSION_EXCLUDED_TOOLS`.

    The folders named there are excluded in addition to the default ones; a variable that is set but empty
    clears the defaults.
    """
    values = os.environ if environment is None else environment
    folders = values.get("EXTENSION_EXCLUDED_EXTENSIONS")
    named = _split(folders or "")
    defaults = frozenset[str]() if folders is not None and not named else EXCLUDED_BY_DEFAULT
    return Exclusion(extensions=defaults | named, tools=_split(values.get("EXTENSION_EXCLUDED_TOOLS", "")))


def _split(text: str) -> frozenset[str]:
    return frozenset(name.strip().casefold() for name in text.split(",") if name.strip())
