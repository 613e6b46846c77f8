"""Watch folders and files for changes, so that a reload can follow."""

import asyncio
import os
from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from dovetail.extensions.folder import walk_files
from dovetail.lazy import lazy

watchfiles = lazy("watchfiles", extra="server")

_LONGEST_WAIT = 500
_QUIET = 100
_LOOK_AGAIN = 1000
"""Milliseconds: how long changes are collected at most, how long it must be quiet before they are yielded,
and how often single files, and folders that do not exist yet, are checked."""

_Mark: TypeAlias = tuple[int, int, int]


async def watch(
    paths: Sequence[Path], *, stop: asyncio.Event | None = None
) -> AsyncGenerator[frozenset[Path], None]:
    """Yield the changed paths each time something at or below `paths` has changed and it is quiet again.

    Paths may be created later, and removed. Setting `stop` ends the iteration.
    """
    stop = stop or asyncio.Event()
    before = _look(paths)
    while not stop.is_set():
        async for changed in _watch_folders(before.folders, stop):
            now = _look(paths)
            if found := changed | now.differences(before):
                yield found
            is_same, before = now.folders == before.folders, now
            if not is_same:
                break


class Changes:
    """The changes at or below paths between two looks, for programs that act only now and then."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths
        self._marks = self._read()

    def look(self) -> bool:
        """Return whether a file has changed, appeared or disappeared since the last look."""
        before, self._marks = self._marks, self._read()
        return self._marks != before

    def _read(self) -> dict[Path, _Mark]:
        files = (file for path in self._paths for file in (walk_files(path) if path.is_dir() else [path]))
        return {file: mark for file in files if (mark := _mark(file)) is not None}


async def _watch_folders(
    folders: frozenset[Path], stop: asyncio.Event
) -> AsyncGenerator[frozenset[Path], None]:
    """Yield changes below existing folders; an empty set each time all paths are due for a check."""
    if not folders:
        try:
            await asyncio.wait_for(stop.wait(), _LOOK_AGAIN / 1000)
        except TimeoutError:
            yield frozenset()
        return
    changes = watchfiles.awatch(
        *folders,
        debounce=_LONGEST_WAIT,
        step=_QUIET,
        rust_timeout=_LOOK_AGAIN,
        yield_on_timeout=True,
        stop_event=stop,
    )
    async for batch in changes:
        yield frozenset(Path(path) for _, path in batch)


@dataclass(frozen=True, slots=True)
class _View:
    """The folders that exist, and the state of the single files."""

    folders: frozenset[Path]
    files: dict[Path, _Mark]

    def differences(self, other: "_View") -> frozenset[Path]:
        files = {path for path, _ in self.files.items() ^ other.files.items()}
        return (self.folders ^ other.folders) | files


def _look(paths: Iterable[Path]) -> _View:
    folders: set[Path] = set()
    files: dict[Path, _Mark] = {}
    for path in paths:
        if path.is_dir():
            folders.add(path)
        elif (mark := _mark(path)) is not None:
            files[path] = mark
    return _View(frozenset(folders), files)


def _mark(path: Path) -> _Mark | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
