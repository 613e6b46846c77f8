"""What binds the processes that share a database: who is alive, and news from one to the others.

Promises: a process is alive as long as it holds its lock, and the lock goes with the process, also when it is
killed; so no clock decides. News may get lost when a connection breaks; then `on_gap` says so.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol, Self

from dovetail.ids import new_id
from dovetail.lazy import lazy
from dovetail.store.database import Database
from dovetail.store.postgres import PostgresLink

filelock = lazy("filelock", extra="server")

OnNews = Callable[[str, str], None]
"""Hears `(kind, subject)` of what another process did."""


class ProcessLink(Protocol):
    """This process among those that share the database; `async with` holds its lock."""

    process_id: str
    on_news: OnNews
    on_gap: Callable[[], None]

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *exc_info: object) -> None: ...

    def tell(self, kind: str, subject: str) -> None:
        """Tell the other processes something; returns at once."""
        ...

    async def is_alive(self, process_id: str) -> bool:
        """Whether another process lives."""
        ...


def open_link(database: Database) -> ProcessLink:
    """The link that fits the database."""
    process_id = new_id("process")
    return SqliteLink(database, process_id) if database.is_sqlite else PostgresLink(database, process_id)


class SqliteLink:
    """Lock files beside an SQLite file; its processes share data but no news."""

    def __init__(self, database: Database, process_id: str) -> None:
        self.process_id = process_id
        self.on_news: OnNews = lambda kind, subject: None
        self.on_gap: Callable[[], None] = lambda: None
        path = database.url.database
        self._folder = None if database.is_in_memory else Path(f"{path}.processes")
        self._lock = None if self._folder is None else filelock.FileLock(self._folder / process_id)

    async def __aenter__(self) -> Self:
        if self._folder is not None and self._lock is not None:
            self._folder.mkdir(exist_ok=True)
            self._lock.acquire(blocking=False)
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        if self._folder is not None and self._lock is not None:
            self._lock.release()
            (self._folder / self.process_id).unlink(missing_ok=True)

    def tell(self, kind: str, subject: str) -> None:
        """Nobody listens: answers and readers of a run come to its own process."""

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
