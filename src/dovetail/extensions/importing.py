"""Import an extension folder in a thread of its own, under a time limit, as a package of its own.

Whatever the folder does at import (raise, exit, hang, print, change `sys.path` or a standard module) ends as
an `ExtensionError` or a notice. The modules of a version come from the sources that were read and hashed, not
from the disk, so two versions of a folder can be in memory at the same time.
"""

import asyncio
import ctypes
import logging
import re
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from importlib import import_module
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.readers import FileReader
from importlib.util import decode_source
from itertools import count
from pathlib import Path
from types import CodeType, ModuleType

from dovetail.data.text import describe_error
from dovetail.errors import ExtensionError
from dovetail.extensions.folder import ENTRY, PACKAGE_PREFIX, ExtensionFolder, find_called_execute, find_place
from dovetail.extensions.import_guard import ImportGuard, list_own_modules

_serial = count(1)
_SAMPLE_SECONDS = 0.1
_SAMPLES = 10  # on a busy machine a thread may not get the processor in some of them
_BUSY_SECONDS = 0.002


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedFolder:
    """A folder's entry module, its package, and notices about its import."""

    package: str
    module: ModuleType
    notices: tuple[str, ...]


class FolderImporter:
    """Import folders; one that times out is not started again until its content changes.

    If the import ends late, the next load uses its result.
    """

    def __init__(self, time_limit: float) -> None:
        self._time_limit = time_limit
        self._late: dict[Path, _Import] = {}

    async def load(self, folder: ExtensionFolder) -> ImportedFolder:
        """Import the folder's `extension.py` as a new package."""
        late = self._late.get(folder.path)
        if late is not None and late.digest == folder.digest:
            return self._take_late(folder, late)
        self._forget(folder.path)
        work = _Import(folder)
        work.thread.start()
        waiting = asyncio.wrap_future(work.future)
        try:
            await asyncio.wait([waiting], timeout=self._time_limit)
        except asyncio.CancelledError:
            work.abandon()
            raise
        if waiting.done():
            return waiting.result()
        # Otherwise asyncio logs that its exception was never retrieved.
        waiting.add_done_callback(lambda late: late.exception())
        self._late[folder.path] = work
        await work.give_up()
        raise self._explain_late(folder)

    def _take_late(self, folder: ExtensionFolder, work: "_Import") -> ImportedFolder:
        if not work.future.done() or work.is_stopped:
            raise self._explain_late(folder)
        del self._late[folder.path]
        return work.future.result()

    def _forget(self, path: Path) -> None:
        if (work := self._late.pop(path, None)) is not None:
            work.abandon()

    def _explain_late(self, folder: ExtensionFolder) -> ExtensionError:
        return ExtensionError(
            f"import timed out after {self._time_limit:g} s; will retry when one of its files changes",
            file=str(folder.path / ENTRY),
            hint="Do slow work in the first call or in setup(context), not at import, "
            "or raise the limit: EXTENSION_IMPORT_LIMIT=60",
        )


class _Import:
    """One import in progress; `is_stopped` is true if it was ended because it kept the CPU busy."""

    def __init__(self, folder: ExtensionFolder) -> None:
        self.digest = folder.digest
        self.is_stopped = False
        self.future: Future[ImportedFolder] = Future()
        self.thread = threading.Thread(target=self._run, name=f"import-{folder.name}", daemon=True)
        self._folder = folder
        self._guard: ImportGuard | None = None

    def release(self) -> None:
        """Restore the process without waiting for this import."""
        if self._guard is not None:
            self._guard.release()

    def abandon(self) -> None:
        """Discard its result."""
        self.release()
        self.future.add_done_callback(_discard)

    async def give_up(self) -> None:
        """Restore the process, and end the thread if it is busy.

        An exception that waits for a blocked thread would slow every other one down, and under a tracer stop
        it: so a thread that only waits is left to wait, which costs nothing.
        """
        self.release()
        for _ in range(_SAMPLES):
            before = _read_clock(self.thread)
            await asyncio.sleep(_SAMPLE_SECONDS)
            if self.thread.ident is not None and _read_clock(self.thread) - before > _BUSY_SECONDS:
                self.is_stopped = True
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(self.thread.ident), ctypes.py_object(SystemExit)
                )
                return

    def _run(self) -> None:
        package = open_package(self._folder)
        outcome: ImportedFolder | ExtensionError
        try:
            outcome = self._import(package)
        except BaseException as error:  # an extension may raise anything, also SystemExit: it ends here
            outcome = explain_error(error, self._folder)
        if isinstance(outcome, ImportedFolder):
            self.future.set_result(outcome)
            return
        purge_package(package)
        self.future.set_exception(outcome)

    def _import(self, package: str) -> ImportedFolder:
        self._guard = guard = ImportGuard(self._folder)
        notices: list[str] = []
        name = "extension" if ENTRY in self._folder.sources else None  # else it brings no tools
        try:
            module = import_module(f"{package}.{name}" if name else package)
        finally:
            notices = guard.leave()
        return ImportedFolder(package=package, module=module, notices=tuple(notices))


def _discard(future: "Future[ImportedFolder]") -> None:
    if future.exception() is None:
        purge_package(future.result().package)


def _read_clock(thread: threading.Thread) -> float:
    """Return the CPU time of a thread; 0 if the system does not report it or the thread has ended."""
    if thread.ident is None or not thread.is_alive() or not hasattr(time, "pthread_getcpuclockid"):
        return 0.0
    return time.clock_gettime(time.pthread_getcpuclockid(thread.ident))


def explain_error(error: BaseException, folder: ExtensionFolder) -> ExtensionError:
    """Return the error as an `ExtensionError` with its place in the folder's files."""
    if isinstance(error, ExtensionError):
        return error
    if isinstance(error, SyntaxError):
        file = error.filename or str(folder.path / ENTRY)
        return ExtensionError(f"{type(error).__name__}: {error.msg}", file=file, line=error.lineno)
    file, line = find_place(error, folder.path)
    if isinstance(error, SystemExit):
        return ExtensionError(f"calls sys.exit({error.code!r}) at import", file=file, line=line)
    return ExtensionError(describe_error(error), file=file, line=line, hint=_advise(error, folder))


def _advise(error: BaseException, folder: ExtensionFolder) -> str | None:
    if (called := find_called_execute(error, folder.path, folder.sources.get(ENTRY, b""))) is not None:
        return f"Line {called} calls the function: pass it without parentheses."
    if not isinstance(error, ModuleNotFoundError) or error.name is None:
        return None
    if error.name in list_own_modules(folder):
        return f"It is in the folder: write `from .{error.name} import …`."
    if is_module_of_folder(error.name):
        return f"The folder has no {'/'.join(error.name.split('.')[1:])}.py."
    return f"Is {error.name.split('.')[0]!r} installed where this runs?"


def open_package(folder: ExtensionFolder) -> str:
    """Register the folder under a new package name, from which its modules can be imported."""
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    package = f"{PACKAGE_PREFIX}{re.sub(r'[^0-9A-Za-z]', '_', folder.name)}_{next(_serial)}"
    _finder.folders[package] = folder
    return package


def purge_package(package: str) -> None:
    """Drop a package: its sources, its modules and their loggers."""
    _finder.folders.pop(package, None)
    for registry in (sys.modules, logging.Logger.manager.loggerDict):
        for name in [name for name in list(registry) if name == package or name.startswith(f"{package}.")]:
            registry.pop(name, None)


def list_packages(name: str) -> list[str]:
    """Return the packages of the versions of one folder that are in memory."""
    return [package for package, folder in _finder.folders.items() if folder.name == name]


def show_module_names(text: str) -> str:
    """Return a text with the modules of folders under their short names: `weather.helper`."""
    return re.sub(rf"\b{PACKAGE_PREFIX}(\w+?)_\d+\b", r"\1", text)


def is_module_of_folder(name: str) -> bool:
    """Return whether a module's name belongs to a folder, whether or not the module exists."""
    return name.partition(".")[0] in _finder.folders


class _SourceLoader(InspectLoader):
    """Loader of one module from its folder's sources; a folder without `__init__.py` is an empty package."""

    def __init__(self, folder: ExtensionFolder, source: str | None) -> None:
        self._source = b"" if source is None else folder.sources[source]
        self._is_package = source is None or source.endswith("__init__.py")
        self.file = str(folder.path / source) if source else None
        self._path = self.file or str(folder.path / "__init__.py")

    def get_source(self, fullname: str) -> str:
        return decode_source(self._source)

    def get_code(self, fullname: str) -> CodeType:
        return compile(self._source, self.file or f"<{fullname}>", "exec", dont_inherit=True)

    def is_package(self, fullname: str) -> bool:
        return self._is_package

    def get_resource_reader(self, fullname: str) -> FileReader:
        return FileReader(SourceFileLoader(fullname, self._path))


def _find_source(folder: ExtensionFolder, names: Sequence[str]) -> str | None:
    path = "/".join(names)
    candidates = (f"{path}/__init__.py", f"{path}.py") if path else ("__init__.py",)
    return next((candidate for candidate in candidates if candidate in folder.sources), None)


def _holds_modules(folder: ExtensionFolder, names: Sequence[str]) -> bool:
    start = "/".join(names) + "/"
    return any(source.startswith(start) for source in folder.sources)


class _ExtensionFinder(MetaPathFinder):
    """Finder for the modules of the registered folders."""

    def __init__(self) -> None:
        self.folders: dict[str, ExtensionFolder] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, *names = fullname.split(".")
        folder = self.folders.get(package)
        if folder is None:
            return None
        source = _find_source(folder, names)
        if source is None and names and not _holds_modules(folder, names):
            return None
        loader = _SourceLoader(folder, source)
        spec = ModuleSpec(fullname, loader, origin=loader.file, is_package=loader.is_package(fullname))
        spec.has_location = loader.file is not None
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(str(folder.path.joinpath(*names)))
        return spec


_finder = _ExtensionFinder()
