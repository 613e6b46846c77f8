"""The link between processes that share a database: which are alive, and news from one to the others.

Promises: a process is alive as long as it holds its lock and renews its lease. The lock ends with the
process, also when it is killed; the lease ends when its event loop stands still (`store/lease.py`). News may
get lost when a connection breaks or a lease ends; then `on_gap` is called.
"""

import asyncio
import json
import logging
import math
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol, Self

from dovetail.errors import StoreError
from dovetail.ids import new_id
from dovetail.lazy import lazy
from dovetail.store.database import Database
from dovetail.store.lease import Lease, Observer
from dovetail.store.postgres import PostgresLink

filelock = lazy("filelock", extra="server")
logger = logging.getLogger(__name__)
_LOOK_SECONDS = 0.5
_SIGN = ".sign"
"""The end of the name of the file whose time is a process's sign of life: a number, not a time."""
_LONGEST_NEWS_FILE = 1_000_000

OnNews = Callable[[str, str], None]
"""Called with `(kind, subject)` for news from another process."""


class ProcessLink(Protocol):
    """The link of this process to the others; `async with` holds its lock."""

    process_id: str
    on_news: OnNews
    on_gap: Callable[[], None]
    on_death: Callable[[], None]
    """Called when a process has ended or stopped: others may take up its runs now."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *exc_info: object) -> None: ...

    def announce(self, kind: str, subject: str) -> None:
        """Send news to the other processes; return at once."""
        ...

    async def is_alive(self, process_id: str) -> bool:
        """Whether another process is alive."""
        ...

    @property
    def life(self) -> int | None:
        """The number of this life, which changes with each interruption; None while others may count this
        process as dead, so that they may have taken over its runs.
        """
        ...

    async def renew(self) -> int:
        """Show that this process is alive, and return its life; raise `StoreError` if it cannot."""
        ...


def open_link(database: Database, takeover: float | None = None) -> ProcessLink:
    """Return the link for the database; a process that stops counts as dead within `takeover` seconds."""
    kind = SqliteLink if database.is_sqlite else PostgresLink
    return kind(database, new_id("process"), takeover)


class SqliteLink:
    """Lock files and signs of life next to an SQLite file, and a file of news."""

    def __init__(self, database: Database, process_id: str, takeover: float | None = None) -> None:
        self.process_id = process_id
        self.on_news: OnNews = lambda kind, subject: None
        self.on_gap: Callable[[], None] = lambda: None
        self.on_death: Callable[[], None] = lambda: None
        path = database.url.database
        self._folder = None if database.is_in_memory else Path(f"{path}.processes")
        self._lock = None if self._folder is None else filelock.FileLock(self._folder / process_id)
        self._news = None if database.is_in_memory else NewsFile(Path(f"{path}.news"))
        self._watcher: asyncio.Task[None] | None = None
        self._lease = Lease(takeover if self._folder is not None else None)
        self._observer = Observer(self._lease)
        self._signs = 0

    async def __aenter__(self) -> Self:
        if self._folder is not None and self._lock is not None:
            self._folder.mkdir(exist_ok=True)
            self._lock.acquire(blocking=False)
            self._sign_path(self.process_id).touch()
        await self.renew()
        self._observer.look(self._read_signs())
        if self._news is not None:
            self._watcher = asyncio.create_task(self._watch(self._news))
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        if self._watcher is not None:
            self._watcher.cancel()
            await asyncio.wait([self._watcher])
        if self._folder is not None and self._lock is not None:
            self._lock.release()
            self._remove(self.process_id)

    @property
    def life(self) -> int | None:
        """The number of this life; None while this process may count as dead."""
        return self._lease.life

    async def renew(self) -> int:
        """Show that this process is alive, and return its life; raise `StoreError` if it cannot."""
        self._sign()
        if (life := self.life) is None:
            raise StoreError("This process cannot show that it is alive.")
        return life

    def announce(self, kind: str, subject: str) -> None:
        """Send news to the other processes: those of the feed always, others if there are any."""
        if self._news is not None and (kind == "feed" or self._observer.has_company):
            self._news.add(json.dumps([self.process_id, kind, subject]))

    async def is_alive(self, process_id: str) -> bool:
        """Whether another process holds its lock file, and has shown itself."""
        if self._folder is None or not (self._folder / process_id).exists():
            return False
        if is_held(self._folder / process_id):
            return not self._observer.has_stopped(process_id)
        self._remove(process_id)
        return False

    async def _watch(self, news: "NewsFile") -> None:
        loop = asyncio.get_running_loop()
        # Those that were here first may have shared no news with this process until they saw it.
        others_know_at = loop.time() + 2 * self._lease.interval if self._observer.has_company else math.inf
        signs_at = 0.0
        while True:
            await asyncio.sleep(min(_LOOK_SECONDS, self._lease.interval))
            self._hear(news)
            if loop.time() >= signs_at:
                signs_at = loop.time() + self._lease.interval
                self._sign()
                if self._observer.look(self._read_signs()):
                    self.on_death()
            if loop.time() >= others_know_at:
                others_know_at = math.inf
                self.on_gap()

    def _hear(self, news: "NewsFile") -> None:
        lines = news.take()
        if lines is None:
            self.on_gap()
        for line in lines or ():
            sender, kind, subject = json.loads(line)
            if sender != self.process_id:
                self.on_news(kind, subject)

    def _sign(self) -> None:
        """Show that this process is alive; also on a full disk, as no file grows."""
        moment = self._lease.begin()
        self._signs += 1
        try:
            if self._folder is not None:
                os.utime(self._sign_path(self.process_id), (self._signs, self._signs))
        except OSError as error:
            logger.warning("cannot show other processes that this one is alive: %s", error)
            return
        if self._lease.renew(moment) and self._signs > 1:
            self.on_gap()

    def _read_signs(self) -> dict[str, int]:
        signs: dict[str, int] = {}
        folder = self._folder or Path()
        for path in folder.glob(f"*{_SIGN}"):
            with suppress(FileNotFoundError):
                signs[path.name.removesuffix(_SIGN)] = path.stat().st_mtime_ns
        signs.pop(self.process_id, None)
        return signs

    def _sign_path(self, process_id: str) -> Path:
        return (self._folder or Path()) / f"{process_id}{_SIGN}"

    def _remove(self, process_id: str) -> None:
        for path in (self._sign_path(process_id), self._sign_path(process_id).with_suffix("")):
            path.unlink(missing_ok=True)


def is_held(path: Path) -> bool:
    """Whether a process holds this lock file."""
    lock = filelock.FileLock(path)
    try:
        lock.acquire(blocking=False)
    except filelock.Timeout:
        return True
    lock.release()
    return False


class NewsFile:
    """A file that processes add lines to, and read what others have added."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._place = self._measure()

    def add(self, line: str) -> None:
        """Add a line, at once and whole; a file that has become long begins again."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        try:
            if self._measure() > _LONGEST_NEWS_FILE:
                flags |= os.O_TRUNC
            file = os.open(self._path, flags, 0o600)
            try:
                os.write(file, f"{line}\n".encode())
            finally:
                os.close(file)
        except OSError as error:
            logger.warning("cannot share news with other processes: %s", error)

    def take(self) -> list[str] | None:
        """Return the lines since the last call; None if the file has begun again: some may be missed."""
        size = self._measure()
        if size == self._place:
            return []
        if size < self._place:
            self._place = size
            return None
        with self._path.open("rb") as file:
            file.seek(self._place)
            added = file.read(size - self._place)
        whole = added[: added.rfind(b"\n") + 1]
        self._place += len(whole)
        return whole.decode().splitlines()

    def _measure(self) -> int:
        try:
            return self._path.stat().st_size
        except OSError:
            return 0
