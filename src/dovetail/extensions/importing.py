"""Imports an extension folder where it cannot hurt: in a thread of its own, under a time limit.

Whatever the folder does at import — fail, leave, hang, print, touch `sys.path` or a standard module — ends as
an `ExtensionError` or a notice.
"""

import asyncio
import ctypes
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

from dovetail.errors import ExtensionError
from dovetail.extensions.folder import ENTRY, ExtensionFolder
from dovetail.extensions.guard import ProcessGuard, list_own_modules
from dovetail.extensions.modules import open_package, purge_package
from dovetail.extensions.place import find_place

_SAMPLE_SECONDS = 0.1
_BUSY_SECONDS = 0.002


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedFolder:
    """A folder's entry module, the package it lives in, and what was odd about its import."""

    package: str
    module: ModuleType
    notices: tuple[str, ...]


class FolderImporter:
    """Imports folders one at a time; one that hangs is left alone until it ends or its content changes."""

    def __init__(self, time_limit: float) -> None:
        self._time_limit = time_limit
        self._hanging: dict[tuple[Path, str], _Import] = {}

    async def load(self, folder: ExtensionFolder) -> ImportedFolder:
        """Import the folder's `extension.py` as a new package."""
        key = folder.path, folder.digest
        self._hanging = {each: work for each, work in self._hanging.items() if work.thread.is_alive()}
        if key in self._hanging:
            raise ExtensionError("its import still hangs; it is tried again when a file of it changes")
        work = _Import(folder)
        work.thread.start()
        try:
            async with asyncio.timeout(self._time_limit):
                return await asyncio.wrap_future(work.future)
        except TimeoutError as error:
            self._hanging[key] = work
            await work.give_up()
            raise ExtensionError(
                f"its import took longer than {self._time_limit:g} s",
                file=str(folder.path / ENTRY),
                hint="Do slow work at the first call or in setup(context), not while the file is imported.",
            ) from error
        except asyncio.CancelledError:
            work.release()
            raise


class _Import:
    """One import under way; its future is cancelled when nobody waits for it any more."""

    def __init__(self, folder: ExtensionFolder) -> None:
        self.future: Future[ImportedFolder] = Future()
        self.thread = threading.Thread(target=self._run, name=f"import-{folder.name}", daemon=True)
        self._folder = folder
        self._guard: ProcessGuard | None = None

    def release(self) -> None:
        """Let the process go on without this import."""
        if self._guard is not None:
            self._guard.release_output()

    async def give_up(self) -> None:
        """Let the process go on, and end the thread if it is busy.

        An exception that waits for a blocked thread would slow every other one down, and under a tracer stop
        it: so a thread that only waits is left to wait, which costs nothing.
        """
        self.release()
        before = _read_clock(self.thread)
        await asyncio.sleep(_SAMPLE_SECONDS)
        if self.thread.ident is not None and _read_clock(self.thread) - before > _BUSY_SECONDS:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(self.thread.ident), ctypes.py_object(SystemExit)
            )

    def _run(self) -> None:
        package = open_package(self._folder)
        outcome: ImportedFolder | ExtensionError
        try:
            outcome = self._import(package)
        except BaseException as error:  # an extension may raise anything, also SystemExit: it ends here
            outcome = _explain(error, self._folder)
        is_awaited = self.future.set_running_or_notify_cancel()
        if isinstance(outcome, ImportedFolder) and is_awaited:
            self.future.set_result(outcome)
            return
        purge_package(package)
        if isinstance(outcome, ExtensionError) and is_awaited:
            self.future.set_exception(outcome)

    def _import(self, package: str) -> ImportedFolder:
        self._guard = guard = ProcessGuard(self._folder, package)
        notices: list[str] = []
        try:
            module = import_module(f"{package}.extension")
        finally:
            if not self.future.cancelled():  # later on the process is no longer as the guard knew it
                notices = guard.leave()
        return ImportedFolder(package=package, module=module, notices=tuple(notices))


def _read_clock(thread: threading.Thread) -> float:
    """The processor time of a thread; 0 where the system does not tell or the thread has ended."""
    if thread.ident is None or not thread.is_alive() or not hasattr(time, "pthread_getcpuclockid"):
        return 0.0
    return time.clock_gettime(time.pthread_getcpuclockid(thread.ident))


def _explain(error: BaseException, folder: ExtensionFolder) -> ExtensionError:
    """The error in words, with the place in the folder's own files."""
    if isinstance(error, ExtensionError):
        return error
    if isinstance(error, SyntaxError):
        file = error.filename or str(folder.path / ENTRY)
        return ExtensionError(f"{type(error).__name__}: {error.msg}", file=file, line=error.lineno)
    file, line = find_place(error, folder.path)
    if isinstance(error, SystemExit):
        return ExtensionError(f"calls sys.exit({error.code!r}) at import", file=file, line=line)
    return ExtensionError(
        f"{type(error).__name__}: {error}", file=file, line=line, hint=_advise(error, folder)
    )


def _advise(error: BaseException, folder: ExtensionFolder) -> str | None:
    if not isinstance(error, ModuleNotFoundError) or error.name is None:
        return None
    if error.name in list_own_modules(folder):
        return f"It lies in the folder: write `from .{error.name} import …`."
    return f"Is {error.name.split('.')[0]!r} installed where this runs?"
