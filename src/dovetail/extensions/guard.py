"""Watches what an import does to the whole process, undoes it and tells it."""

import os
import sys
import threading
from pathlib import Path
from typing import Any, TextIO

from dovetail.errors import ExtensionError
from dovetail.extensions.folder import ENTRY, ExtensionFolder

_PRINTED_LIMIT = 1000


class ProcessGuard:
    """Holds the process as it was before an import; made and left in the thread that imports."""

    def __init__(self, folder: ExtensionFolder, package: str) -> None:
        self._folder = folder
        self._package = package
        self._modules = dict(sys.modules)
        self._path = list(sys.path)
        self._directory = _find_directory()
        self._output = _Capture(sys.stdout)
        sys.stdout = self._output

    def release_output(self) -> None:
        """Let the process print again as before."""
        if sys.stdout is self._output:
            sys.stdout = self._output.stream

    def leave(self) -> list[str]:
        """Undo what was done to the process and say what was odd; a replaced standard module is an error."""
        self.release_output()
        notices = [*self._restore_path(), *self._restore_directory()]
        self._forget_stray_modules()
        if replaced := self._restore_standard_modules():
            raise ExtensionError(
                f"replaces the standard module {', '.join(replaced)}, which was undone",
                file=str(self._folder.path / ENTRY),
            )
        if printed := self._output.text.strip():
            notices.append(f"prints at import: {printed!r}")
        return notices + [
            f"{name}.py has the name of a standard module; only `from . import {name}` means this one"
            for name in list_own_modules(self._folder)
            if name in sys.stdlib_module_names
        ]

    def _restore_path(self) -> list[str]:
        added = [entry for entry in sys.path if entry not in self._path]
        if not added:
            return []
        sys.path[:] = [entry for entry in sys.path if entry in self._path]
        return [f"adds {', '.join(added)} to sys.path, which was undone; write `from .helper import …`"]

    def _restore_directory(self) -> list[str]:
        now = _find_directory()
        if self._directory is None or now == self._directory:
            return []
        os.chdir(self._directory)
        return [f"changes the working directory to {now}, which was undone; use context.folder in setup"]

    def _forget_stray_modules(self) -> None:
        """Take modules of the folder that came in by sys.path out of the cache: a reload reads them again."""
        for name in self._list_new_modules():
            file = getattr(sys.modules[name], "__file__", None)
            if isinstance(file, str) and Path(file).is_relative_to(self._folder.path):
                del sys.modules[name]

    def _list_new_modules(self) -> list[str]:
        return [
            name
            for name in list(sys.modules)
            if name not in self._modules and not name.startswith(self._package)
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


class _Capture:
    """Stands for the output stream and takes what one thread prints; other threads print as before."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.text = ""
        self._owner = threading.get_ident()

    def write(self, text: str) -> int:
        if threading.get_ident() != self._owner:
            return self.stream.write(text)
        self.text = (self.text + text)[:_PRINTED_LIMIT]
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def list_own_modules(folder: ExtensionFolder) -> list[str]:
    """The names of the modules that lie directly in the folder, beside `extension.py`."""
    return sorted({source.split("/")[0].removesuffix(".py") for source in folder.sources} - {"extension"})


def _find_directory() -> str | None:
    try:
        return os.getcwd()
    except OSError:  # somebody removed it
        return None


def _is_standard(name: str) -> bool:
    return name.split(".")[0] in sys.stdlib_module_names and name != "__main__"
