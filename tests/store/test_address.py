"""Database URLs in their usual spellings, and migrations that lead to the declared tables."""

import asyncio
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from dovetail.errors import ConfigError
from dovetail.store.address import HEAD, make_config, parse_address, read_version, show_address, to_asyncpg
from dovetail.store.database import Database
from dovetail.store.tables import metadata
from postgres import make_database


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgres://ann:secret@host/chat", "postgresql://ann:***@host/chat"),
        ("postgresql+psycopg://ann:secret@host/chat", "postgresql://ann:***@host/chat"),
        ("sqlite:///x.db", "sqlite:///x.db"),
        ("folder/x.db", "sqlite:///folder/x.db"),
        (Path("x"), "sqlite:///x"),
        (":memory:", "sqlite:///:memory:"),
    ],
)
def test_an_address_is_shown_as_people_write_it(address: str | Path, shown: str) -> None:
    assert show_address(parse_address(address)) == shown


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("sslmode=require", "sslmode=require"),
        ("ssl=require", "sslmode=require"),
        ("ssl=disable&sslmode=require", "sslmode=require"),
        ("sslmode=require&channel_binding=require&connect_timeout=10", "sslmode=require"),
        ("application_name=chat", "application_name=chat"),
    ],
)
def test_what_hosting_companies_add_reaches_the_driver_in_its_words(query: str, kept: str) -> None:
    address = parse_address(f"postgresql://ann:secret@host/chat?{query}")
    assert to_asyncpg(address) == f"postgresql://ann:secret@host/chat?{kept}"


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("nonsense", "Invalid database URL 'nonsense'"),
        ("mysql://host/x", "Unknown database kind 'mysql'. Expected one of: postgres, postgresql, sqlite"),
        ("postgresql://ann:secret@host:port/x", r"Invalid database URL postgresql://\*\*\*@host:port/x"),
        ("postgresql://ann:s@cret@host/x", "contains an @"),
    ],
)
def test_a_wrong_address_is_reported_without_its_password(address: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told) as caught:
        parse_address(address)
    assert "cret" not in str(caught.value)
    assert caught.value.hint


@pytest.mark.slow
@pytest.mark.parametrize("query", ["sslmode=prefer&application_name=chat", "ssl=disable&connect_timeout=9"])
async def test_a_database_opens_with_what_hosting_companies_add(query: str) -> None:
    async with Database(f"{await make_database()}&{query}") as database:
        assert await database.read(lambda connection: connection.scalar(sa.text("SELECT 1"))) == 1


@pytest.mark.slow
async def test_an_unknown_demand_is_named() -> None:
    with pytest.raises(ConfigError, match="must be one of: disable, allow"):
        async with Database(f"{await make_database()}&sslmode=maybe"):
            pass


def find_differences(connection: sa.Connection) -> list[object]:
    return list(compare_metadata(MigrationContext.configure(connection), metadata))


async def test_a_new_database_has_the_declared_tables(tmp_path: Path) -> None:
    async with Database(tmp_path / "x.db") as database:
        assert await database.read(find_differences) == []
        assert await database.read(read_version) == HEAD


@pytest.mark.slow
async def test_several_processes_may_make_the_tables_at_once() -> None:
    url = await make_database()

    async def open_once() -> list[object]:
        async with Database(url) as database:
            return await database.read(find_differences)

    assert await asyncio.gather(*(open_once() for _ in range(4))) == [[], [], [], []]


async def test_opening_again_changes_nothing(tmp_path: Path) -> None:
    async with Database(tmp_path / "x.db"):
        pass
    async with Database(tmp_path / "x.db") as database:
        assert await database.read(find_differences) == []


async def test_the_newest_step_is_the_one_that_is_named(tmp_path: Path) -> None:
    async with Database(tmp_path / "x.db") as database:
        config = await database.read(make_config)
    assert ScriptDirectory.from_config(config).get_heads() == [HEAD]


async def test_a_database_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    async with Database(tmp_path / "x.db") as database:
        newer = sa.text("UPDATE alembic_version SET version_num = '9999'")
        await database.write(lambda connection: connection.execute(newer))
    with pytest.raises(ConfigError, match="newer version"):
        async with Database(tmp_path / "x.db"):
            pass
