"""Load modules and public names on first use, so that `import dovetail` stays fast."""

import importlib
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

DISTRIBUTION = "dovetail-agents"
"""The project's name on the package index, where `dovetail` is taken; the import name is `dovetail`."""


def install_command(extra: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"


class LazyModule:
    """Stand-in for a module that imports it when an attribute is first read."""

    def __init__(self, name: str, extra: str | None = None) -> None:
        self._name = name
        self._extra = extra
        self._module: ModuleType | None = None

    def __getattr__(self, attribute: str) -> Any:
        if self._module is None:
            self._module = _load(self._name, self._extra)
        value = getattr(self._module, attribute)
        setattr(self, attribute, value)  # the next read does not come here
        return value


def lazy(name: str, extra: str | None = None) -> Any:
    """Return a stand-in for the module `name`; `extra` is the pip extra that installs it."""
    return LazyModule(name, extra)


def lazy_exports(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a module's `__getattr__` that loads each public name from its home on first use."""

    def load(name: str) -> Any:
        if name not in homes:
            exports = ", ".join(sorted(homes))
            raise AttributeError(f"module {package!r} has no attribute {name!r}; it exports: {exports}")
        value = getattr(importlib.import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return load


def _load(name: str, extra: str | None) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if extra is None:
            raise
        missing = error.name or name
        raise ImportError(f"{missing} is needed here and not installed: {install_command(extra)}") from error
