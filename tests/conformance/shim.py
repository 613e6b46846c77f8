"""Provide Dovetail under the names that the specification's own tests import, as a pytest plugin.

`EXECUTABLE_SPEC=path/to/test_file.py make conformance` runs such a file through it. Only signatures are
adapted here: what the tests see is what Dovetail does.
"""

import sys
import types
from typing import Any

from dovetail.data import sanitize
from dovetail.prompt import Prompt
from dovetail.settings import Settings, default_settings


class _Prompt(Prompt):
    """A prompt that is created with a plugin manager and settings."""

    def __init__(self, plugin_manager: Any, parent_settings: Settings, **_: Any) -> None:
        super().__init__(settings=Settings(parent=parent_settings))


class _Formatter:
    sanitize = staticmethod(sanitize)


class _App:
    def __init__(self) -> None:
        self.plugin_manager = None
        self.settings = default_settings()

    def set_settings(self, key: str, value: Any) -> None:
        self.settings.set(key, value)


def install() -> None:
    """Make the names importable; existing modules are not replaced."""
    package, core, utils = (types.ModuleType(f"agently{name}") for name in ("", ".core", ".utils"))
    package.Agently, core.Prompt, utils.DataFormatter = _App(), _Prompt, _Formatter  # type: ignore[attr-defined]
    for module in (package, core, utils):
        sys.modules.setdefault(module.__name__, module)


install()
