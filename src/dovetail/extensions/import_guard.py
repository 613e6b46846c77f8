"""Detect, undo and report process-wide side effects of an import."""

import os
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from dovetail.errors import ExtensionError
from dovetail.extensions.folder import ENTRY, PACKAGE_PREFIX, ExtensionFolder

_PRINTED_LIMIT = 1000


@dataclass(slots=True)
class _Process:
    """State shared by the imports in progress: the process as it was before the first of them."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    guards: "set[ImportGuard]" = field(default_factory=set["ImportGuard"])
    path: list[str] = field(default_factory=list[str])
    directory: str | None = None
    output: "_Output | None" = None

    def enter(self, guard: "ImportGuard") -> None:
        with self.lock:
            if not self.guards:
                self.path, self.directory = list(sys.path), _find_directory()
            self.guards.add(guard)
            if self.output is None or sys.stdout is not self.output:
                self.output = sys.stdout = _Output(sys.stdout)
            self.output.texts[guard.thread] = ""

    def leave(self, guard: "ImportGuard") -> list[str]:
        """Remove a guard; the last one restores the process. Returns notices about side effects."""
        with self.lock:
            if guard not in self.guards:
                return []
            self.guards.discard(guard)
            printed = self.output.texts.pop(guard.thread, "").strip() if self.output else ""
            notices = [f"prints at import: {printed!r}"] if printed else []
            if self.guards:
                return notices
            if self.output is not None and sys.stdout is self.output:
                sys.stdout = self.output.stream
            self.output = None
            return [*self._restore_path(), *self._restore_directory(), *notices]

    def _restore_path(self) -> list[str]:
        added = [entry for entry in sys.path if entry not in self.path]
        if not added:
            return []
        sys.path[:] = [entry for entry in sys.path if entry in self.path]
        return [f"adds {', '.join(added)} to sys.path, which was undone; write `from .helper import …`"]

    def _restore_directory(self) -> list[str]:
        now = _find_directory()
        if self.directory is None or now == self.directory:
            return []
        os.chdir(self.directory)
        return [f"changes the working directory to {now}, which was undone; use context.folder in setup"]


_process = _Process()


class ImportGuard:
    """Keep the process as it was before an import; created and left in the importing thread.

    A slow import does not hold up the next one: with several in progress, the last to end restores what all
    of them changed.
    """

    def __init__(self, folder: ExtensionFolder) -> None:
        self.thread = threading.get_ident()
        self._folder = folder
        self._modules = dict(sys.modules)
        _process.enter(self)

    def release(self) -> None:
        """Restore the process although the import has not ended."""
        _process.leave(self)

    def leave(self) -> list[str]:
        """Restore the process and return notices; raise if a standard module was replaced."""
        notices = _process.leave(self)
        self._forget_stray_modules()
        if replaced := self._restore_standard_modules():
            raise ExtensionError(
                f"replaces the standard module {', '.join(replaced)}, which was undone",
                file=str(self._folder.path / ENTRY),
            )
        return notices + [
            f"{name}.py has the name of a standard module; import it with `from . import {name}`"
            for name in list_own_modules(self._folder)
            if name in sys.stdlib_module_names
        ]

    def _forget_stray_modules(self) -> None:
        """Drop modules of the folder imported through sys.path, so that a reload reads them again."""
        for name in self._list_new_modules():
            file = getattr(sys.modules.get(name), "__file__", None)
            if isinstance(file, str) and Path(file).is_relative_to(self._folder.path):
                sys.modules.pop(name, None)

    def _list_new_modules(self) -> list[str]:
        """Return the modules imported since the start, without those of any version of any folder."""
        return [
            name
            for name in list(sys.modules)
            if name not in self._modules and not name.startswith(PACKAGE_PREFIX)
        ]

    def _restore_standard_modules(self) -> list[str]:
        replaced = [
            name
            for name, module in self._modules.items()
            if _is_standard(name) and sys.modules.get(name) is not module
        ]
        for name in replaced:
            sys.modules[name] = self._modules[name]
        made_up = [
            name
            for name in self._list_new_modules()
            if _is_standard(name) and getattr(sys.modules[name], "__spec__", None) is None
        ]
        for name in made_up:
            del sys.modules[name]
        return replaced + made_up


class _Output:
    """A stand-in for stdout that captures what importing threads print; other threads print as before."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.texts: dict[int, str] = {}

    def write(self, text: str) -> int:
        thread = threading.get_ident()
        if thread not in self.texts:
            return self.stream.write(text)
        self.texts[thread] = (self.texts[thread] + text)[:_PRINTED_LIMIT]
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def list_own_modules(folder: ExtensionFolder) -> list[str]:
    """Return the names of the modules directly in the folder, without `extension.py`."""
    return sorted({source.split("/")[0].removesuffix(".py") for source in folder.sources} - {"extension"})


def _find_directory() -> str | None:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return None


def _is_standard(name: str) -> bool:
    return name.split(".")[0] in sys.stdlib_module_names and name != "__main__"
