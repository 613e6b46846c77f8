"""The steps lead to the tables as they are declared."""

import asyncio
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from dovetail.errors import ConfigError
from dovetail.store.address import HEAD, make_config, read_version
from dovetail.store.database import Database
from dovetail.store.tables import metadata
from postgres import make_database


def find_differences(connection: sa.Connection) -> list[object]:
    return list(compare_metadata(MigrationContext.configure(connection), metadata))


async def test_a_new_database_has_the_declared_tables(tmp_path: Path) -> None:
    async with Database(tmp_path / "x.db") as database, database.read() as connection:
        assert await connection.run_sync(find_differences) == []
        assert await connection.run_sync(read_version) == HEAD


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_several_processes_may_make_the_tables_at_once() -> None:
    url = await make_database()

    async def open_once() -> list[object]:
        async with Database(url) as database, database.read() as connection:
            return await connection.run_sync(find_differences)

    assert await asyncio.gather(*(open_once() for _ in range(4))) == [[], [], [], []]


async def test_opening_again_changes_nothing(tmp_path: Path) -> None:
    async with Database(tmp_path / "x.db"):
        pass
    async with Database(tmp_path / "x.db") as database, database.read() as connection:
        assert await connection.run_sync(find_differences) == []


async def test_the_newest_step_is_the_one_that_is_named(tmp_path: Path) -> None:
    async with Database(tmp_path / "x.db") as database, database.read() as connection:
        config = await connection.run_sync(make_config)
    assert ScriptDirectory.from_config(config).get_heads() == [HEAD]


async def test_a_database_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    async with Database(tmp_path / "x.db") as database, database.write() as connection:
        await connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(ConfigError, match="newer version"):
        async with Database(tmp_path / "x.db"):
            pass
