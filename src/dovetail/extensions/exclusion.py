"""Which extension folders and tools the environment leaves out (rules F60 to F65)."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

EXCLUDED_BY_DEFAULT = frozenset({"example"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusion:
    """Names of folders and tools that are left out; compared without regard to case."""

    extensions: frozenset[str] = EXCLUDED_BY_DEFAULT
    tools: frozenset[str] = frozenset()

    def has_extension(self, name: str) -> bool:
        """Whether this folder is left out."""
        return name.casefold() in self.extensions

    def has_tool(self, name: str) -> bool:
        """Whether this tool is left out."""
        return name.casefold() in self.tools


def read_exclusion(environment: Mapping[str, str] | None = None) -> Exclusion:
    """What `EXTENSION_EXCLUDED_EXTENSIONS` and `EXTENSION_EXCLUDED_TOOLS` say.

    The folders named there are left out beside the default ones; a variable that is set but empty empties
    the defaults.
    """
    values = os.environ if environment is None else environment
    folders = values.get("EXTENSION_EXCLUDED_EXTENSIONS")
    named = _split(folders or "")
    defaults = frozenset[str]() if folders is not None and not named else EXCLUDED_BY_DEFAULT
    return Exclusion(extensions=defaults | named, tools=_split(values.get("EXTENSION_EXCLUDED_TOOLS", "")))


def _split(text: str) -> frozenset[str]:
    return frozenset(name.strip().casefold() for name in text.split(",") if name.strip())
