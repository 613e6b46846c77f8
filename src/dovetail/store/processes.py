"""The link between processes that share a database: which are alive, and news from one to the others.

Promises: a process is alive as long as it holds its lock, and the lock ends with the process, also when it is
killed; no clock is involved. News may get lost when a connection breaks; then `on_gap` is called.
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
    """Lock files next to an SQLite file; its processes share data but no news."""

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

    def announce(self, kind: str, subject: str) -> None:
        """Do nothing: answers and readers of a run come to its own process."""

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
