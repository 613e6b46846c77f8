"""The link between processes that share a database: which are alive, and news from one to the others.

Promises: a process is alive as long as it holds its lock, and the lock ends with the process, also when it is
killed; no clock is involved. News may get lost when a connection breaks; then `on_gap` is called.
"""

import asyncio
import json
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, Self

from dovetail.ids import new_id
from dovetail.lazy import lazy
from dovetail.store.database import Database
from dovetail.store.postgres import PostgresLink

filelock = lazy("filelock", extra="server")
logger = logging.getLogger(__name__)
_LOOK_SECONDS = 0.5
_LONGEST_NEWS_FILE = 1_000_000

OnNews = Callable[[str, str], None]
"""Called with `(kind, subject)` for news from another process."""


class ProcessLink(Protocol):
    """The link of this process to the others; `async with` holds its lock."""

    process_id: str
    on_news: OnNews
    on_gap: Callable[[], None]

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *exc_info: object) -> None: ...

    def announce(self, kind: str, subject: str) -> None:
        """Send news to the other processes; return at once."""
        ...

    async def is_alive(self, process_id: str) -> bool:
        """Whether another process is alive."""
        ...


def open_link(database: Database) -> ProcessLink:
    """Return the link for the database."""
    process_id = new_id("process")
    return SqliteLink(database, process_id) if database.is_sqlite else PostgresLink(database, process_id)


class SqliteLink:
    """Lock files next to an SQLite file, and a file of news for the feed, which each process looks at.

    Other news are not shared: answers and readers of a run come to its own process.
    """

    def __init__(self, database: Database, process_id: str) -> None:
        self.process_id = process_id
        self.on_news: OnNews = lambda kind, subject: None
        self.on_gap: Callable[[], None] = lambda: None
        path = database.url.database
        self._folder = None if database.is_in_memory else Path(f"{path}.processes")
        self._lock = None if self._folder is None else filelock.FileLock(self._folder / process_id)
        self._news = None if database.is_in_memory else NewsFile(Path(f"{path}.news"))
        self._watcher: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        if self._folder is not None and self._lock is not None:
            self._folder.mkdir(exist_ok=True)
            self._lock.acquire(blocking=False)
        if self._news is not None:
            self._watcher = asyncio.create_task(self._watch(self._news))
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        if self._watcher is not None:
            self._watcher.cancel()
            await asyncio.wait([self._watcher])
        if self._folder is not None and self._lock is not None:
            self._lock.release()
            (self._folder / self.process_id).unlink(missing_ok=True)

    def announce(self, kind: str, subject: str) -> None:
        """Send news of the feed to the other processes."""
        if kind == "feed" and self._news is not None:
            self._news.add(json.dumps([self.process_id, kind, subject]))

    async def _watch(self, news: "NewsFile") -> None:
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            lines = news.take()
            if lines is None:
                self.on_gap()
            for line in lines or ():
                sender, kind, subject = json.loads(line)
                if sender != self.process_id:
                    self.on_news(kind, subject)

    async def is_alive(self, process_id: str) -> bool:
        """Whether another process holds its lock file."""
        if self._folder is None or not (self._folder / process_id).exists():
            return False
        if is_held(self._folder / process_id):
            return True
        (self._folder / process_id).unlink(missing_ok=True)
        return False


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
