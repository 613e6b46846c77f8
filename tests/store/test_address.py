"""Database URLs in their usual spellings, and migrations that lead to the declared tables."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from dovetail.errors import ConfigError, ConflictError
from dovetail.sessions.store import SessionStore
from dovetail.store.address import HEAD, make_config, parse_address, read_version, show_address, to_asyncpg
from dovetail.store.database import Database
from dovetail.store.tables import inbox, metadata
from postgres import make_database, uses_postgres


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


LETTER: dict[str, Any] = {
    "id": "dup",
    "owner": "ann",
    "kind": "queue",
    "parts": [{"n": 1.5}],
    "content": [],
    "request": {},
}


def take_back_the_key_of_messages(connection: sa.Connection) -> None:
    """Give a database the tables of version 0005, which knew messages by their ids alone."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.text("ALTER TABLE inbox DROP CONSTRAINT inbox_pkey, ADD PRIMARY KEY (id)"))
    else:
        made = connection.scalar(sa.text("SELECT sql FROM sqlite_master WHERE name = 'inbox'"))
        old = str(made).replace("CONSTRAINT inbox_pkey PRIMARY KEY (session_id, id)", "PRIMARY KEY (id)")
        assert old != made
        for statement in ("DROP TABLE inbox", old):
            connection.execute(sa.text(statement))
        connection.execute(sa.text("CREATE INDEX inbox_by_session ON inbox (session_id, created_at)"))
    connection.execute(sa.text("UPDATE alembic_version SET version_num = '0005'"))


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=uses_postgres)])
async def test_messages_that_wait_are_kept_when_their_ids_get_their_session(
    tmp_path: Path, kind: str
) -> None:
    url = tmp_path / "x.db" if kind == "sqlite" else await make_database()
    first, second = ({**LETTER, "session_id": name, "created_at": 1.25} for name in "st")
    async with Database(url) as database:
        await SessionStore(database).create(session_id="s")
        await SessionStore(database).create(session_id="t")
        await database.write(take_back_the_key_of_messages)
        await database.write(lambda connection: connection.execute(sa.insert(inbox), first))
        with pytest.raises(ConflictError):
            await database.write(lambda connection: connection.execute(sa.insert(inbox), second))
    async with Database(url) as database:
        assert await database.read(read_version) == HEAD
        assert await database.read(find_differences) == []
        await database.write(lambda connection: connection.execute(sa.insert(inbox), second))
        with pytest.raises(ConflictError):
            await database.write(lambda connection: connection.execute(sa.insert(inbox), first))
        rows = await database.read(
            lambda connection: connection.execute(sa.select(inbox).order_by("session_id")).mappings().all()
        )
        assert [{**row} for row in rows] == [
            {**row, "run_id": None, "taken_by": None} for row in (first, second)
        ]
        await SessionStore(database).delete("s")
        left = await database.read(lambda connection: connection.scalars(sa.select(inbox.c.session_id)).all())
        assert left == ["t"]


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
