"""One database, SQLite or PostgreSQL, opened with `async with`.

Promises: a write is one transaction, all or nothing; on SQLite writes wait for each other instead of failing;
a violated constraint is a `ConflictError`, a value that cannot be stored an `InvalidDataError`, any other
failure of the database a `StoreError`.
"""

import json
import os
import random
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Protocol, Self, TypeAlias, TypeVar

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.ext.asyncio import create_async_engine

from dovetail.concurrency import retrying
from dovetail.data.clean import clean_data, is_clean
from dovetail.data.private_folder import make_state_folder
from dovetail.errors import ConfigError, StoreError
from dovetail.lazy import lazy
from dovetail.store.address import migrate, parse_address, read_version, show_address, to_asyncpg
from dovetail.store.errors import Closed, GaveWay, Health, translated_errors
from dovetail.store.session import configure_session
from dovetail.store.sqlite import GroupCommit, TransactionThreads

asyncpg = lazy("asyncpg", extra="server")
T = TypeVar("T")
Transaction: TypeAlias = sa.Connection
"""The connection of a transaction."""

POSTGRES_WIDTH = 2
"""Concurrent transactions on PostgreSQL: further ones wait and are batched."""
_MOST_ATTEMPTS = 5
"""How often a transaction that lost a conflict with another one is tried."""
_MAGIC = b"SQLite format 3\0"
_SAME_VERSION = sa.text("UPDATE alembic_version SET version_num = version_num")
_SUSPECT = ("\\u", "NaN", "Infinity")


class SaveWork(Protocol):
    """Store something inside a transaction of the caller; called again if the transaction is repeated."""

    def __call__(self, transaction: Transaction, /) -> None: ...


class Database:
    """A database by its address (`sqlite:///x.db`, `postgresql://…`), an SQLite file's path or `:memory:`."""

    def __init__(self, url: str | Path) -> None:
        self.url = parse_address(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.is_in_memory = self.is_sqlite and self.url.database in (None, "", ":memory:")
        self._transactions: Transactions | None = None
        self._health = Health()
        self._group_commit = GroupCommit(self._transact, width=1 if self.is_sqlite else POSTGRES_WIDTH)
        self._group_read = GroupCommit(partial(self._run, writes=False)) if self.is_sqlite else None

    @property
    def file(self) -> Path | None:
        """The file of an SQLite database, if it is in one."""
        return Path(self.url.database or "") if self.is_sqlite and not self.is_in_memory else None

    @property
    def shown(self) -> str:
        """The address without its password."""
        return show_address(self.url)

    async def __aenter__(self) -> Self:
        if self.file is not None:
            _make_room(self)
        self._transactions = self._open()
        try:
            await self._run(migrate, writes=True)
        except BaseException as error:
            await self.close()
            if isinstance(error, StoreError):
                raise ConfigError(
                    f"Cannot open the database at {self.shown}: {error.message}",
                    hint=error.hint or _hint(self),
                ) from error
            raise
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.close()

    async def look(self) -> str | None:
        """Return the version of a database that is not open, and change nothing; None if it is empty.

        Raises:
            ConfigError: it cannot be reached or read.
        """
        if self.file is not None and not self.file.exists():
            return None
        self._transactions = self._open()
        try:
            return await self._run(read_version, writes=False)
        except StoreError as error:
            text = f"Cannot open the database at {self.shown}: {error.message}"
            raise ConfigError(text, hint=error.hint or _hint(self)) from error
        finally:
            await self.close()

    async def close(self) -> None:
        """Close all connections."""
        if self._transactions is not None:
            await self._transactions.close()
            self._transactions = None

    async def read(self, work: Callable[[Transaction], T]) -> T:
        """Return what the work reads; on SQLite maybe in one transaction with the reads of others."""
        if self._group_read is not None:
            return await self._group_read.do(work)
        return await self._run(work, writes=False)

    async def write(self, work: Callable[[Transaction], T]) -> T:
        """Do the work inside one transaction, maybe together with the work of others.

        It may be called again: it must change nothing but the database.
        """
        return await self._group_commit.do(work)

    async def check(self) -> None:
        """Check that the database can be read and written.

        Raises:
            StoreError: it cannot, or could not a moment ago.
        """
        self._health.check()
        if self._health.needs_proof():
            await self.write(lambda connection: connection.execute(_SAME_VERSION) and None)
        else:
            await self.read(lambda connection: connection.execute(sa.text("SELECT 1")) and None)

    async def _transact(self, work: Callable[[Transaction], T]) -> T:
        with self._health.noted():
            conflict = StoreError("")
            async for _ in retrying(
                random.SystemRandom().uniform(0, 0.02) * attempt for attempt in range(1, _MOST_ATTEMPTS)
            ):
                try:
                    return await self._run(work, writes=True)
                except GaveWay as error:
                    conflict = error
            raise StoreError(conflict.message) from conflict

    async def _run(self, work: Callable[[Transaction], T], *, writes: bool) -> T:
        if self._transactions is None:
            raise Closed(f"The database {self.shown} is not open.", hint="Use `async with Database(…)`.")
        with translated_errors():
            return await self._transactions.run(work, writes=writes)

    def _open(self) -> "Transactions":
        if not self.is_sqlite:
            return PostgresTransactions(self.url)
        options: dict[str, Any] = {"poolclass": sa.StaticPool} if self.is_in_memory else {}
        engine = sa.create_engine(self.url, **_JSON, **options)
        _teach_sqlite(engine)
        return TransactionThreads(engine, is_shared=self.is_in_memory)


class Transactions(Protocol):
    """Run work in transactions of one kind of database."""

    async def run(self, work: Callable[[Transaction], T], *, writes: bool) -> T:
        """Return the result of the work, done inside one transaction."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...


class PostgresTransactions:
    """Transactions on connections of a pool."""

    def __init__(self, url: sa.URL) -> None:
        async def connect() -> Any:
            name = {"application_name": "dovetail"}
            connection = await asyncpg.connect(to_asyncpg(url), server_settings=name)
            await configure_session(connection)
            return connection

        self._engine = create_async_engine(url, pool_pre_ping=True, async_creator=connect, **_JSON)

    async def run(self, work: Callable[[Transaction], T], *, writes: bool) -> T:
        """Return the result of the work, done inside one transaction."""
        async with self._engine.connect() as connection:
            if not writes:
                return await connection.run_sync(work)
            async with connection.begin():
                return await connection.run_sync(work)

    async def close(self) -> None:
        """Close all connections."""
        await self._engine.dispose()


def _make_room(database: Database) -> None:
    path = Path(database.url.database or "")
    try:
        make_state_folder(path.parent)
        with open(path, "ab+", opener=_open_private) as file:
            file.seek(0)
            beginning = file.read(len(_MAGIC))
    except OSError as error:
        raise ConfigError(
            f"Cannot open the database at {database.shown}: {error}", hint=_hint(database)
        ) from error
    if beginning not in (b"", _MAGIC):
        raise ConfigError(f"{database.shown} is not a SQLite database.")


def _open_private(path: str, flags: int) -> int:
    """Open a file; a new one is readable only by its owner, as it will hold conversations."""
    return os.open(path, flags, 0o600)


def _hint(database: Database) -> str:
    if database.is_sqlite:
        return "Check that the folder is writable and the disk has free space."
    return "Check DATABASE_URL, and that the database server is running."


def _to_json(value: Any) -> str:
    """Return JSON that any database accepts; data that was not cleaned before is cleaned here."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        if is_clean(text) and "\\u0000" not in text:
            return text
    except ValueError:  # a number that is not finite, or a value that holds itself
        pass
    return json.dumps(clean_data(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _from_json(text: str) -> Any:
    """Read stored data; lone surrogates and NaN that an older version stored are cleaned."""
    value = json.loads(text)
    if any(sign in text for sign in _SUSPECT):
        with suppress(ValueError):  # deeper than what is taken today
            return clean_data(value)
    return value


_JSON: dict[str, Any] = {"json_serializer": _to_json, "json_deserializer": _from_json}


def _teach_sqlite(engine: sa.Engine) -> None:
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)


def _prepare_sqlite(connection: Any, record: object) -> None:
    connection.isolation_level = None  # transactions begin in `_begin_sqlite`, not by the driver's guess
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "busy_timeout=10000"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: sa.Connection) -> None:
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
