"""Opening a database and writing to it."""

import asyncio
import math
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from dovetail.data.text import report_error
from dovetail.errors import ConfigError, ConflictError, InvalidDataError, StoreError
from dovetail.store.database import Database, Transaction
from dovetail.store.tables import sessions
from patience import PATIENCE
from postgres import make_database, uses_postgres

ROW = {"id": "a", "owner": "me", "title": "", "version": 1, "created_at": 0.0, "updated_at": 0.0}


async def count(database: Database) -> int | None:
    statement = sa.select(sa.func.count()).select_from(sessions)
    return await database.read(lambda connection: connection.scalar(statement))


def insert(*rows: dict[str, Any]) -> Callable[[Transaction], None]:
    def work(connection: Transaction) -> None:
        for row in rows:
            connection.execute(sa.insert(sessions).values({**ROW, **row}))

    return work


async def test_what_was_written_is_there_after_reopening(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "dovetail.db"
    async with Database(path) as database:
        await database.write(insert({}))
    async with Database(f"sqlite:///{path}") as database:
        assert await count(database) == 1


async def test_a_failed_write_leaves_nothing_behind(tmp_path: Path) -> None:
    async with Database(tmp_path / "x.db") as database:
        with pytest.raises(ConflictError):
            await database.write(insert({}, {}))
        assert await count(database) == 0


async def test_a_full_disk_is_reported_with_a_hint(tmp_path: Path) -> None:
    async with Database(tmp_path / "x.db") as database:

        def write_much(connection: Transaction) -> None:
            connection.execute(sa.text("PRAGMA max_page_count = 1"))
            connection.execute(sa.insert(sessions).values({**ROW, "title": "x" * 1_000_000}))

        with pytest.raises(StoreError, match="disk is full") as caught:
            await database.write(write_much)
        assert "Free some disk space" in (caught.value.hint or "")


async def test_many_writers_wait_for_each_other_and_readers_do_not_wait(tmp_path: Path) -> None:
    async with Database(tmp_path / "x.db") as database:
        was_read = threading.Event()

        def write_slowly(connection: Transaction) -> bool:
            insert({"id": "slow"})(connection)
            return was_read.wait(PATIENCE)

        writers = [
            asyncio.create_task(database.write(write_slowly)),
            *(asyncio.create_task(database.write(insert({"id": str(number)}))) for number in range(20)),
        ]
        assert await count(database) == 0
        was_read.set()
        assert (await asyncio.gather(*writers))[0]
        assert await count(database) == 21


@pytest.mark.parametrize("name", ["x.db", ":memory:"])
async def test_work_in_one_transaction_is_all_or_nothing_next_to_other_writers(
    tmp_path: Path, name: str
) -> None:
    async with Database(name if name == ":memory:" else tmp_path / name) as database:

        def write_twice(connection: Transaction) -> None:
            connection.execute(sa.insert(sessions).values({**ROW, "id": "twice"}))
            connection.execute(sa.insert(sessions).values({**ROW, "id": "twice"}))

        with pytest.raises(ConflictError):
            await database.write(write_twice)
        await asyncio.gather(database.write(insert({})), database.write(insert({"id": "other"})))
        found = await database.read(lambda connection: set(connection.scalars(sa.select(sessions.c.id))))
    assert found == {"a", "other"}


async def test_a_database_in_memory_serves_many_at_once() -> None:
    async with Database(":memory:") as database:
        writes = (database.write(insert({"id": str(number)})) for number in range(5))
        await asyncio.gather(*writes, count(database))
        assert await count(database) == 5


@pytest.fixture(params=["sqlite", "memory", pytest.param("postgresql", marks=uses_postgres)])
async def any_database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    urls = {"sqlite": tmp_path / "x.db", "memory": ":memory:"}
    async with Database(urls.get(request.param) or await make_database()) as database:
        yield database


async def test_data_that_no_border_has_cleaned_is_stored_clean(any_database: Database) -> None:
    dirty = {"x": "\ud83d", "y": "长", "z\0": [math.nan, "\0", "\ud83d\ude00"]}
    await any_database.write(insert({"usage": dirty}))
    stored = await any_database.read(lambda connection: connection.scalar(sa.select(sessions.c.usage)))
    assert stored == {"x": "\ufffd", "y": "长", "z\ufffd": [None, "\ufffd", "😀"]}


async def test_data_of_an_older_version_is_read_clean(tmp_path: Path) -> None:
    async with Database(tmp_path / "x.db") as database:
        await database.write(insert({}))
        old = r'{"x": "\ud83d", "y": "\u0000", "n": NaN, "i": -Infinity}'
        statement = sa.text("UPDATE sessions SET usage = :old").bindparams(old=old)
        await database.write(lambda connection: connection.execute(statement))
        read = await database.read(lambda connection: connection.scalar(sa.select(sessions.c.usage)))
    assert read == {"x": "\ufffd", "y": "\ufffd", "n": None, "i": None}


@pytest.mark.parametrize(
    "values",
    [{"title": "\ud83d"}, {"usage": {"x": object()}}, {"version": 10**30}],
    ids=["surrogate", "object", "number"],
)
async def test_a_value_that_cannot_be_stored_is_not_an_absent_database(
    any_database: Database, values: dict[str, Any]
) -> None:
    with pytest.raises(InvalidDataError, match="The database cannot hold this") as caught:
        await any_database.write(insert(values))
    assert caught.value.__cause__ is not None
    assert str(caught.value.__cause__) not in str(caught.value)
    assert await count(any_database) == 0


async def test_an_error_about_a_taken_id_has_no_text_of_the_database(any_database: Database) -> None:
    await any_database.write(insert({}))
    with pytest.raises(ConflictError) as caught:
        await any_database.write(insert({}))
    shown = str(report_error(caught.value))
    assert "conflicts with what is stored" in shown
    assert not [word for word in ("sessions", "constraint", "UNIQUE", "sqlite", "asyncpg") if word in shown]


async def test_only_the_owner_can_read_a_new_database(tmp_path: Path) -> None:
    async with Database(tmp_path / "x.db") as database:
        assert await count(database) == 0
        names = ("x.db", "x.db-wal", "x.db-shm")
        assert [(tmp_path / name).stat().st_mode & 0o777 for name in names] == [0o600] * 3


async def test_an_unknown_kind_of_database_names_the_choices() -> None:
    with pytest.raises(ConfigError, match=r"'mysql'.*postgresql, sqlite"):
        Database("mysql://x/y")


async def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "x.db", tmp_path):
        with pytest.raises(ConfigError, match="Cannot open the database at") as caught:
            async with Database(path):
                pass
        assert str(path) in str(caught.value)
        assert "disk has free space" in str(caught.value)


async def test_a_file_that_is_not_a_database_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(b"no database at all, just some bytes" * 100)
    with pytest.raises(ConfigError, match="is not a SQLite database"):
        async with Database(tmp_path / "x.db"):
            pass


async def test_a_password_is_never_shown() -> None:
    database = Database("postgres://me:secret@localhost:1/x")
    assert "secret" not in database.shown
    with pytest.raises(ConfigError) as caught:
        async with database:
            pass
    assert "secret" not in str(caught.value)


async def test_a_closed_database_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is not open"):
        await count(Database(tmp_path / "x.db"))


@pytest.mark.slow
async def test_two_transactions_that_wait_for_each_other_both_succeed() -> None:
    ids = ("a", "b")
    async with Database(await make_database()) as database:
        await database.write(insert(*({"id": one} for one in ids)))

        def change(order: Sequence[str], place: int) -> Callable[[Transaction], None]:
            def work(connection: Transaction) -> None:
                connection.execute(
                    sa.update(sessions).where(sessions.c.id == order[0]).values(title=str(place))
                )
                connection.execute(sa.text("SELECT pg_sleep(0.2)"))  # until the other holds its first row
                connection.execute(
                    sa.update(sessions).where(sessions.c.id == order[1]).values(title=str(place))
                )

            return work

        await asyncio.gather(database.write(change(ids, 1)), database.write(change(ids[::-1], 2)))
