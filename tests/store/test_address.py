"""The addresses of databases, as people and hosting companies write them."""

from pathlib import Path

import pytest

from dovetail.errors import ConfigError
from dovetail.store.address import parse_address, show_address, to_asyncpg
from dovetail.store.database import Database
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
        ("nonsense", "'nonsense' is no address"),
        ("mysql://host/x", "Unknown database kind 'mysql'. Expected one of: postgres, postgresql, sqlite"),
        ("postgresql://ann:secret@host:port/x", r"postgresql://\*\*\*@host:port/x is no address"),
        ("postgresql://ann:s@cret@host/x", "has an @"),
    ],
)
def test_a_wrong_address_is_told_without_its_password(address: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told) as caught:
        parse_address(address)
    assert "cret" not in str(caught.value)
    assert caught.value.hint


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("query", ["sslmode=prefer&application_name=chat", "ssl=disable&connect_timeout=9"])
async def test_a_database_opens_with_what_hosting_companies_add(query: str) -> None:
    async with Database(f"{await make_database()}&{query}") as database, database.read() as connection:
        assert (await connection.exec_driver_sql("SELECT 1")).scalar() == 1


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_a_wish_that_nobody_knows_is_named() -> None:
    with pytest.raises(ConfigError, match="must be one of: disable, allow"):
        async with Database(f"{await make_database()}&sslmode=maybe"):
            pass
